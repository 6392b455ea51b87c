// --- 5. the points ----------------------------------------------------------------------------------------------
const P = D.points && { ...D.points, scores: lazy(() => decoded(D.points.scores)), place: D.points.place && lazy(() => decoded(D.points.place)), drawn: D.points.drawn && lazy(() => decoded(D.points.drawn)) };
const score = (i) => { const q = P.scores()[i]; return q === 65535 ? NaN : q / 65534; };
const pointName = (i) => P.ids ? P.ids[i] : `row ${i + 1}`;
const axes = (w, h, pad, xs, ys, xlabel, ylabel, fx, fy) => [
  ...xs.map((t) => svg("text", { x: fx(t), y: h - pad.bottom + 16, "text-anchor": "middle", class: "small muted" }, String(t))),
  ...ys.map((t) => svg("text", { x: pad.left - 6, y: fy(t) + 4, "text-anchor": "end", class: "small muted" }, typeof t === "number" ? t.toLocaleString("en") : t)),
  svg("line", { x1: pad.left, x2: w - pad.right, y1: h - pad.bottom, y2: h - pad.bottom, class: "axis" }),
  svg("text", { x: (pad.left + w - pad.right) / 2, y: h - 4, "text-anchor": "middle", class: "small" }, xlabel), svg("text", { x: 4, y: 12, class: "small" }, ylabel)];
const drawHistogram = () => {
  if (!P) return;
  const box = $("histogram"), w = Math.min(box.clientWidth || 500, 620), h = 210, pad = { left: 52, right: 8, top: 22, bottom: 34 }, most = Math.max(...P.counts, 1);
  const fx = (t) => pad.left + t * (w - pad.left - pad.right), fy = (c) => h - pad.bottom - c / most * (h - pad.top - pad.bottom), k = P.counts.length;
  fill(box, svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "Histogram of the agreement on each point" },
    axes(w, h, pad, [0, 0.25, 0.5, 0.75, 1], [0, most], "agreement of the members on a point", "points", fx, fy),
    P.counts.map((c, i) => { const r = svg("rect", { x: fx(i / k) + 0.5, width: Math.max(fx(1 / k) - fx(0) - 1, 1), y: fy(c), height: h - pad.bottom - fy(c), fill: rgb(viridis((i + 0.5) / k)) });
      r.addEventListener("mousemove", (e) => showTip(e.clientX, e.clientY, [`${(i / k).toFixed(3)} to ${((i + 1) / k).toFixed(3)}`, `${c.toLocaleString("en")} points`])); r.addEventListener("mouseleave", hideTip); return r; })));
};
const colourings = P && P.place ? [{ name: "agreement of the members (dark: unstable)", kind: "score" },
  ...(D.consensus ? [{ name: `consensus (${D.consensus.method})`, kind: "consensus" }] : []),
  ...(labels ? D.names.map((_, i) => ({ name: starred(i), kind: "member", i })) : [])] : [];
const base = lazy(() => D.consensus ? decoded(D.consensus.labels) : null);
const hardLabels = (i) => { // the cluster of each point; of soft ones the largest membership
  const A = labels[i](), k = D.ks[i];
  if (!D.soft[i]) return A;
  const out = new Uint16Array(D.n);
  for (let p = 0; p < D.n; p++) { let best = 0; for (let j = 1; j < k; j++) if (A[p * k + j] > A[p * k + best]) best = j; out[p] = best; }
  return out;
};
const matchedColours = (A, k) => { // clusters take the colour of the consensus cluster they share most points with
  const B = base();
  if (!B) return Array.from({ length: k }, (_, c) => clusterColour(c));
  const kb = D.consensus.k, cells = new Map();
  for (let p = 0; p < D.n; p++) if (A[p] < k && B[p] < kb) cells.set(A[p] * kb + B[p], (cells.get(A[p] * kb + B[p]) || 0) + 1);
  const { partner } = matching(k, kb, [...cells].map(([x, w]) => [Math.floor(x / kb), x % kb, w]));
  let next = kb;
  return Array.from({ length: k }, (_, c) => clusterColour(partner[c] >= 0 ? partner[c] : next++));
};
let spots = null;
const drawScatter = () => {
  if (!colourings.length) return;
  const canvas = $("scatter"), how = colourings[state.colour], w = Math.min(canvas.parentElement.clientWidth, 760), h = Math.round(Math.min(w * 0.72, 540));
  const c = sharp(canvas, w, h), q = P.place(), shown = P.drawn ? P.drawn() : null, many = q.length / 2, pad = 14;
  c.clearRect(0, 0, w, h);
  let colours = null, A = null, k = 0;
  if (how.kind === "consensus") { A = base(); k = D.consensus.k; colours = Array.from({ length: k }, (_, x) => clusterColour(x)); }
  if (how.kind === "member") { A = hardLabels(how.i); k = D.ks[how.i]; colours = matchedColours(A, k); }
  spots = { xy: new Float32Array(2 * many), shown, A, how };
  const scores = P.scores().subarray(0, D.n);
  let least = 65534; for (const s of scores) if (s < least) least = s;
  const radius = many > 20000 ? 1.1 : many > 3000 ? 1.8 : many > 600 ? 2.6 : 4;
  const sequence = Array.from({ length: many }, (_, i) => i);
  if (how.kind === "score") sequence.sort((x, y) => scores[shown ? shown[y] : y] - scores[shown ? shown[x] : x]); // the unstable on top
  c.globalAlpha = many > 20000 ? 0.6 : 0.85;
  for (const i of sequence) {
    const p = shown ? shown[i] : i, x = pad + q[2 * i] / 65535 * (w - 2 * pad), y = h - pad - q[2 * i + 1] / 65535 * (h - 2 * pad);
    spots.xy[2 * i] = x; spots.xy[2 * i + 1] = y;
    const s = scores[p];
    const colour = how.kind === "score" ? (s === 65535 ? GREY : viridis((s - least) / Math.max(65534 - least, 1))) : A[p] < k ? colours[A[p]] : GREY;
    c.fillStyle = rgb(colour);
    if (radius < 2) c.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    else { c.beginPath(); c.arc(x, y, radius, 0, 7); c.fill(); }
  }
  c.globalAlpha = 1;
  const key = $("scatter-legend");
  if (how.kind === "score") legend(key, (least / 65534).toFixed(2), "1", viridis, "agreement");
  else fill(key, colours.slice(0, 24).map((x, i) => el("span", { class: "key" }, el("span", { class: "swatch", style: `background:${rgb(x)}` }), how.kind === "member" ? short(clusterName(how.i, i), 16) : String(i))),
    k > 24 ? el("span", { class: "muted" }, `and ${k - 24} more`) : null);
};
if (P && P.place) {
  $("scatter").addEventListener("mousemove", (e) => {
    if (!spots) return;
    const box = $("scatter").getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    let best = -1, near = 100;
    for (let i = 0; i < spots.xy.length / 2; i++) { const d = (spots.xy[2 * i] - x) ** 2 + (spots.xy[2 * i + 1] - y) ** 2; if (d < near) { near = d; best = i; } }
    if (best < 0) return hideTip();
    const p = spots.shown ? spots.shown[best] : best;
    showTip(e.clientX, e.clientY, [pointName(p), `agreement ${fmt(score(p))}`, ...(spots.how.kind === "member" && spots.A[p] < D.ks[spots.how.i] ? [`cluster ${clusterName(spots.how.i, spots.A[p])}`] : []),
      ...(base() && base()[p] < D.consensus.k ? [`consensus cluster ${base()[p]}`] : [])]);
  });
  $("scatter").addEventListener("mouseleave", hideTip);
}
const drawUnstable = (all) => {
  if (!P) return;
  const rows = all ? P.unstable : P.unstable.slice(0, 10), B = D.consensus ? base() : null;
  fill($("unstable"), table(["point", "agreement", ...(B ? ["consensus cluster"] : [])], rows.map((i) => [short(pointName(i), 40), fmt(score(i)), ...(B ? [B[i] < D.consensus.k ? String(B[i]) : "none"] : [])]), { label: "Most unstable points" }),
    rows.length < P.unstable.length ? button(`Show ${P.unstable.length}`, () => drawUnstable(true)) : null);
};
