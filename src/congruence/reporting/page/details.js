// --- details: consensus matrix, its distribution, consensus methods ---------------------------------------------------------
const T = D.together;
const cells = T && lazy(() => decoded(T.cells));
const pointOrder = T && T.order && lazy(() => decoded(T.order));
const drawConsensus = () => {
  if (!T) return;
  const box = $("consensus"), w = Math.min(box.parentElement.clientWidth || 400, 520);
  painters.set(box, (to) => paintConsensus(to, w));
  paintConsensus(box, w);
};
const paintConsensus = (canvas, w) => {
  const m = T.size, q = cells(), c = sharp(canvas, w, w);
  const image = new ImageData(m, m), none = css("--none").split(",").map(Number);
  for (let x = 0; x < m * m; x++) { const p = q[x] === 255 ? none : viridis(q[x] / 254); image.data.set([p[0], p[1], p[2], 255], 4 * x); }
  const small = document.createElement("canvas"); small.width = small.height = m;
  small.getContext("2d").putImageData(image, 0, 0);
  c.imageSmoothingEnabled = m > w;
  c.drawImage(small, 0, 0, w, w);
  if (state.selected && pointOrder) { c.fillStyle = css("--mark"); pointOrder().forEach((p, i) => { if (state.selected.has(p)) c.fillRect(0, i * w / m, 6, Math.max(w / m, 1)); }); }
};
const consensusName = (x) => pointOrder ? pointName(pointOrder()[x]) : `points ${(T.edges[x] + 1).toLocaleString("en")} to ${T.edges[x + 1].toLocaleString("en")} of the order`;
const drawCdf = () => {
  if (!T) return;
  const box = $("cdf"), w = Math.min(box.clientWidth || 420, 460), h = 250, pad = { left: 44, right: 10, top: 22, bottom: 36 };
  const fx = (t) => pad.left + t * (w - pad.left - pad.right), fy = (t) => h - pad.bottom - t * (h - pad.top - pad.bottom);
  let d = `M${fx(0)},${fy(0)}`, last = 0;
  T.cdf_values.forEach((x, i) => { d += `L${fx(x).toFixed(1)},${fy(last).toFixed(1)}L${fx(x).toFixed(1)},${fy(T.cdf[i]).toFixed(1)}`; last = T.cdf[i]; });
  fill(box, svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "Distribution of the consensus values" },
    svg("rect", { x: fx(0.1), y: fy(1), width: fx(0.9) - fx(0.1), height: fy(0) - fy(1), class: "band" }),
    axes(w, h, pad, [0, 0.1, 0.5, 0.9, 1], [0, 0.5, 1], "share of the clusterings that put two points together", "share of the pairs at or below", fx, fy), svg("path", { d, class: "curve" })),
  saver("distribution", () => box.querySelector("svg"), () => [["consensus", "share at or below"], ...T.cdf_values.map((x, i) => [x, T.cdf[i]])]));
};
const drawMethods = () => {
  if (!T || !T.methods.length) return;
  fill($("methods"), table(["method", "clusters", "shared information", "fit", "seconds"], T.methods.map((r, i) => [`${r.method}${r.refined ? ", refined" : ""}${i ? "" : " (used)"}`, r.n_clusters, fmt(r.pooled_ami, 4), fmt(r.arimp, 4), isNumber(r.seconds) ? r.seconds.toFixed(2) : "–"]), "Consensus by method"),
    saver("consensus-methods", null, () => [["method", "refined", "clusters", "pooled ami", "fit", "seconds"], ...T.methods.map((r) => [r.method, r.refined, r.n_clusters, r.pooled_ami, r.arimp, r.seconds])]));
};
if (T) {
  const canvas = $("consensus");
  canvas.addEventListener("mousemove", (e) => {
    const box = canvas.getBoundingClientRect(), m = T.size, i = Math.floor((e.clientY - box.top) / box.height * m), j = Math.floor((e.clientX - box.left) / box.width * m);
    if (i < 0 || j < 0 || i >= m || j >= m) return hideTip();
    const v = cells()[i * m + j];
    showTip(e.clientX, e.clientY, [consensusName(i), consensusName(j), v === 255 ? "never seen together" : `together in ${percent(v / 254)}`]);
  });
  canvas.addEventListener("mouseleave", hideTip);
  canvas.addEventListener("click", (e) => { if (pointOrder) { const box = canvas.getBoundingClientRect(); showPoint(pointOrder()[Math.min(T.size - 1, Math.floor((e.clientY - box.top) / box.height * T.size))]); } });
  $("consensus-legend").append(legend("0", "1", viridis, "share of the clusterings that put two points together"));
  $("consensus-save").append(saver("consensus-matrix", () => canvas, pointOrder ? () => { const o = Array.from(pointOrder()); return [["point", ...o.map(pointName)], ...o.map((p, i) => [pointName(p), ...o.map((_, j) => Number((cells()[i * T.size + j] / 254).toFixed(3)))])]; } : null));
}
