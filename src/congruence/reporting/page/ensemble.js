// --- 6. the ensemble --------------------------------------------------------------------------------------------
const T = D.together;
const cells = T && lazy(() => decoded(T.cells));
const drawConsensus = () => {
  if (!T) return;
  const canvas = $("consensus"), m = T.size, q = cells(), w = Math.min(canvas.parentElement.clientWidth, 560), c = sharp(canvas, w, w);
  const image = new ImageData(m, m), none = css("--none").split(",").map(Number);
  for (let x = 0; x < m * m; x++) { const p = q[x] === 255 ? none : viridis(q[x] / 254); image.data.set([p[0], p[1], p[2], 255], 4 * x); }
  const small = document.createElement("canvas"); small.width = small.height = m;
  small.getContext("2d").putImageData(image, 0, 0);
  c.imageSmoothingEnabled = m > w;
  c.drawImage(small, 0, 0, w, w);
  legend($("consensus-legend"), "0", "1", viridis, "share of the members that put two points together");
};
if (T) {
  $("consensus").addEventListener("mousemove", (e) => {
    const box = $("consensus").getBoundingClientRect(), m = T.size, i = Math.floor((e.clientY - box.top) / box.height * m), j = Math.floor((e.clientX - box.left) / box.width * m);
    if (i < 0 || j < 0 || i >= m || j >= m) return hideTip();
    const v = cells()[i * m + j], name = (x) => T.order ? pointName(T.orderOf()[x]) : `points ${(T.edges[x] + 1).toLocaleString("en")} to ${T.edges[x + 1].toLocaleString("en")} of the order`;
    showTip(e.clientX, e.clientY, [name(i), name(j), v === 255 ? "never seen together" : `consensus ${(v / 254).toFixed(3)}`]);
  });
  $("consensus").addEventListener("mouseleave", hideTip);
  if (T.order) T.orderOf = lazy(() => decoded(T.order));
}
const drawCdf = () => {
  if (!T) return;
  const box = $("cdf"), w = Math.min(box.clientWidth || 420, 460), h = 250, pad = { left: 44, right: 10, top: 22, bottom: 36 };
  const fx = (t) => pad.left + t * (w - pad.left - pad.right), fy = (t) => h - pad.bottom - t * (h - pad.top - pad.bottom);
  let d = `M${fx(0)},${fy(0)}`, last = 0;
  T.cdf_values.forEach((x, i) => { d += `L${fx(x).toFixed(1)},${fy(last).toFixed(1)}L${fx(x).toFixed(1)},${fy(T.cdf[i]).toFixed(1)}`; last = T.cdf[i]; });
  fill(box, svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "Distribution of the consensus values" },
    svg("rect", { x: fx(0.1), y: fy(1), width: fx(0.9) - fx(0.1), height: fy(0) - fy(1), class: "band" }),
    axes(w, h, pad, [0, 0.1, 0.5, 0.9, 1], [0, 0.5, 1], "consensus of two points", "share of the pairs at or below", fx, fy), svg("path", { d, class: "curve" })));
};
const drawChoice = () => {
  if (!T || !T.choice) return;
  const box = $("choice"), wide = box.clientWidth || 700, w = wide < 520 ? wide : Math.floor((wide - 24) / (wide < 800 ? 2 : 3)), h = 176, pad = { left: 52, right: 10, top: 32, bottom: 34 }, ks = T.choice.ks;
  fill(box, T.choice.curves.map((c) => {
    const known = c.values.filter((x) => x !== null);
    if (!known.length) return null;
    const errs = c.errors.map((x) => x === null ? 0 : 2 * x);
    const lo = Math.min(...c.values.map((v, i) => v === null ? Infinity : v - errs[i])), hi = Math.max(...c.values.map((v, i) => v === null ? -Infinity : v + errs[i]));
    const fx = (k) => pad.left + 8 + (ks.indexOf(k)) / Math.max(ks.length - 1, 1) * (w - pad.left - pad.right - 16), fy = (v) => h - pad.bottom - (v - lo) / ((hi - lo) || 1) * (h - pad.top - pad.bottom);
    const pts = ks.map((k, i) => c.values[i] === null ? null : [fx(k), fy(c.values[i]), errs[i], c.values[i], k]).filter(Boolean);
    const ticks = ks.length <= 12 ? ks : ks.filter((_, i) => i % Math.ceil(ks.length / 10) === 0), round = (x) => Number(x.toPrecision(3));
    return svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `${c.title} over the number of clusters; best ${c.best}` },
      axes(w, h, pad, ticks, [], "clusters", `${c.name} ${{ higher: "↑", lower: "↓", elbow: "(elbow)" }[c.better]}${c.votes ? "" : ", not counted"}`, fx, fy),
      [lo, hi].map((v) => svg("text", { x: pad.left - 4, y: fy(v) + 4, "text-anchor": "end", class: "small muted" }, String(round(v)))),
      pts.map((p) => p[2] ? svg("line", { x1: p[0], x2: p[0], y1: fy(p[3] - p[2]), y2: fy(p[3] + p[2]), class: "axis" }) : null),
      svg("path", { d: pts.map((p, i) => `${i ? "L" : "M"}${p[0].toFixed(1)},${p[1].toFixed(1)}`).join(""), class: "curve" }),
      pts.map((p) => { const dot = p[4] === c.best ? svg("path", { d: star(p[0], p[1], 8), class: "best" }) : svg("circle", { cx: p[0], cy: p[1], r: 3, class: "dot" });
        dot.addEventListener("mousemove", (e) => showTip(e.clientX, e.clientY, [`${p[4]} clusters`, `${c.name} ${fmt(p[3])}`])); dot.addEventListener("mouseleave", hideTip); return dot; }));
  }));
};
const drawMethods = () => {
  if (!T) return;
  fill($("methods"), table(["method", "clusters", "arimp", "anmi", "own objective", "seconds"], T.methods.map((r) => r.left_out ? [r.method, "–", "–", "–", `left out: ${r.left_out}`, "–"]
    : [r.method, r.n_clusters, fmt(r.arimp), fmt(r.anmi), `${fmt(r.value)} (${r.objective})`, r.seconds.toFixed(2)]), { label: "Consensus clusterings by method" }));
};
