// --- how many: the tree of clusterings over the number of clusters, one curve, other criteria collapsed ---------------------
const drawLevels = () => {
  const box = $("levels"), X = D.levels;
  if (!X) return fill(box);
  const wide = Math.min(box.clientWidth || 700, 900), letters = wide < 520 ? 12 : 24, left = wide < 520 ? 92 : 170, step = Math.max(46, Math.min(74, 560 / X.ks.length)), height = 56 + step * (X.ks.length - 1);
  const x = (n) => left + 10 + n[4] * (wide - left - 20), y = (n) => 24 + n[0] * step;
  const radius = (n) => Math.max(3.5, Math.min(step * 0.42, 24 * Math.sqrt(n[2] / D.n)));
  const parts = X.ks.flatMap((k, i) => [svg("text", { x: 4, y: 22 + i * step, class: "small" }, `k = ${k}`),
    hint(svg("text", { x: 4, y: 36 + i * step, class: "small muted" }, short(D.names[X.members[i]], letters)), [D.names[X.members[i]]])]);
  for (const [a, b, count, share] of [...X.edges].sort((p, q) => p[2] - q[2])) {
    if (share < 0.05 && count < D.n * 0.02) continue;
    const from = X.nodes[a], to = X.nodes[b];
    parts.push(hint(svg("path", { d: `M${x(from).toFixed(1)},${y(from)}C${x(from).toFixed(1)},${y(from) + step / 2} ${x(to).toFixed(1)},${y(to) - step / 2} ${x(to).toFixed(1)},${y(to)}`, class: "branch", "stroke-width": Math.max(0.8, 14 * count / D.n).toFixed(2), "stroke-opacity": (0.25 + 0.6 * share).toFixed(2) }),
      [`${from[1]} → ${to[1]}`, `${plural(count, "point")}, ${percent(share)} of the lower cluster`]));
  }
  for (const n of X.nodes) parts.push(hint(svg("circle", { cx: x(n).toFixed(1), cy: y(n), r: radius(n).toFixed(1), fill: rgb(stabilityColour(n[3])), class: "node" }),
    [`${D.names[X.members[n[0]]]}: cluster ${n[1]}`, plural(n[2], "point"), `found again: ${fmt(n[3])}`]));
  fill(box, svg("svg", { width: wide, height, viewBox: `0 0 ${wide} ${height}`, role: "img", "aria-label": `Tree of the clusters over ${X.ks[0]} to ${X.ks[X.ks.length - 1]} clusters` }, parts),
    legend("unstable", "stable", (t) => stabilityColour(0.4 + 0.6 * t), "how well other clusterings find a cluster; circles grow with points, lines with shared points"),
    el("p", { class: "muted" }, `One clustering for each number of clusters: the one that agrees most with the others of that number.${X.left_out.length ? ` Left out: ${X.left_out.join(", ")}.` : ""}`),
    saver("tree-of-clusters", () => box.querySelector("svg"), () => [["k", "clustering", "cluster", "points", "found again"], ...X.nodes.map((n) => [X.ks[n[0]], D.names[X.members[n[0]]], n[1], n[2], n[3]])]));
};
const curveOf = (w, height, ks, values, errors, limits, ylabel, best, label) => {
  const title = broken(ylabel, w - 8), more = 14 * (title.length - 1), h = height + more, pad = { left: 48, right: 12, top: 26 + more, bottom: 36 }, inset = 9, clip = (v) => Math.max(limits[0], Math.min(limits[1], v));
  const known = values.map((v, i) => isNumber(v) ? [ks[i], v, clip(v - 2 * (errors[i] || 0)), clip(v + 2 * (errors[i] || 0))] : null).filter(Boolean);
  if (!known.length) return null;
  const lo = Math.min(...known.map((p) => p[2])), hi = Math.max(...known.map((p) => p[3])), span = (hi - lo) || 1;
  const fx = (k) => pad.left + 8 + ks.indexOf(k) / Math.max(ks.length - 1, 1) * (w - pad.left - pad.right - 16), fy = (v) => h - pad.bottom - inset - (v - lo) / span * (h - pad.top - pad.bottom - inset);
  const ticks = ks.length <= 12 ? ks : ks.filter((_, i) => i % Math.ceil(ks.length / 10) === 0);
  return svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": label, class: "curve-figure" },
    axes(w, h, pad, ticks, [], "number of clusters", title, fx, fy),
    ticksOf(lo, hi).map((v) => [svg("line", { x1: pad.left, x2: w - pad.right, y1: fy(v), y2: fy(v), class: "grid" }), svg("text", { x: pad.left - 4, y: fy(v) + 4, "text-anchor": "end", class: "small muted" }, String(v))]).flat(),
    known.map((p) => p[3] > p[2] ? svg("line", { x1: fx(p[0]), x2: fx(p[0]), y1: fy(p[2]), y2: fy(p[3]), class: "error", "data-low": p[2], "data-high": p[3] }) : null),
    svg("path", { d: known.map((p, i) => `${i ? "L" : "M"}${fx(p[0]).toFixed(1)},${fy(p[1]).toFixed(1)}`).join(""), class: "curve" }),
    known.map((p) => hint(p[0] === best ? svg("path", { d: star(fx(p[0]), fy(p[1]), 8), class: "best" }) : svg("circle", { cx: fx(p[0]), cy: fy(p[1]), r: 3.5, class: "dot" }), [`${p[0]} clusters`, fmt(p[1], 3)])));
};
const drawCurve = () => {
  const box = $("curve"), X = D.levels;
  if (!X || X.curve.length < 2) return fill(box, X ? el("p", { class: "muted" }, "The agreement curve needs at least two numbers of clusters with at least two clusterings each.") : null);
  const w = Math.min(box.clientWidth || 420, 520);
  const drawn = curveOf(w, 220, X.curve.map((c) => c[0]), X.curve.map((c) => c[1]), X.curve.map((c) => c[2]), [-1, 1], "agreement", null, "Mean agreement of clusterings with the same number of clusters");
  fill(box, drawn, el("p", { class: "muted" }, "Mean agreement of two clusterings with the same number of clusters; bars are two standard errors."),
    saver("agreement-over-k", () => box.querySelector("svg"), () => [["k", "agreement", "standard error", "clusterings"], ...X.curve]));
};
const drawChoice = () => {
  const box = $("choice"), T = D.together;
  if (!box || !T || !T.choice) return;
  const wide = box.clientWidth || $("many").clientWidth || 700, w = wide < 520 ? wide : Math.floor((wide - 24) / (wide < 800 ? 2 : 3)), ks = T.choice.ks;
  fill(box, T.choice.curves.map((c) => curveOf(w, 180, ks, c.values, c.errors, c.limits.map((x, i) => x === null ? (i ? Infinity : -Infinity) : x), `${c.title || c.name} ${{ higher: "↑", lower: "↓", elbow: "" }[c.better] || ""}`, c.best, `${c.title} over the number of clusters`)));
};
