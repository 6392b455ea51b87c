// --- points: a picture, a histogram, a table; choosing points links them all ------------------------------------------------
const P = { place: D.points.place && lazy(() => decoded(D.points.place)), drawn: D.points.drawn && lazy(() => decoded(D.points.drawn)) };
const colourings = [{ name: "group", kind: "group" }, { name: "agreement of the clusterings", kind: "score" }, ...(labels ? D.names.map((_, i) => ({ name: starred(i), kind: "member", i })) : [])];
const pointRows = () => [["row", ...(D.points.ids ? ["id"] : []), "group", "placed consistently"], ...range(D.n).map((p) => [p + 1, ...(D.points.ids ? [D.points.ids[p]] : []), A.labels[p] < A.k ? groupName(A.labels[p]) : "", Number.isNaN(A.placed[p]) ? "" : A.placed[p].toFixed(4)])];
const memberMarks = (i) => { // clusters take the colour of the group they share most points with
  const X = hard[i](), k = D.ks[i], { partner } = matching(k, A.k, contingency(X, k, A.labels, A.k));
  let next = A.k;
  return range(k).map((c) => partner[c] >= 0 ? partner[c] : next++);
};
const spots = new Map(); // of each canvas: where its points are
const paintPoints = (canvas, w, h, how) => {
  if (!canvas.isRecorder) painters.set(canvas, (to) => paintPoints(to, w, h, how));
  const c = sharp(canvas, w, h), q = P.place(), shown = P.drawn ? P.drawn() : null, many = q.length / 2, pad = 14, xy = new Float32Array(2 * many);
  c.clearRect(0, 0, w, h);
  const doubtful = new Uint8Array(D.n), radius = many > 20000 ? 1.1 : many > 3000 ? 1.8 : many > 600 ? 2.8 : 4.2;
  for (const p of A.disputed) doubtful[p] = 1;
  const markers = how.kind === "member" ? memberMarks(how.i) : null, colours = markers ? markers.map(clusterColour) : how.kind === "group" ? range(A.k).map(clusterColour) : null, X = how.kind === "member" ? hard[how.i]() : A.labels;
  const at = (i) => shown ? shown[i] : i, sequence = range(many).sort((x, y) => doubtful[at(x)] - doubtful[at(y)]); // those in doubt on top
  for (const i of sequence) {
    const p = at(i), x = pad + q[2 * i] / 65535 * (w - 2 * pad), y = h - pad - q[2 * i + 1] / 65535 * (h - 2 * pad);
    xy[2 * i] = x; xy[2 * i + 1] = y;
    const colour = how.kind === "score" ? (Number.isNaN(A.placed[p]) ? GREY : stabilityColour(A.placed[p])) : X[p] < colours.length ? colours[X[p]] : GREY;
    const out = (state.disputed && !doubtful[p]) || (state.selected && !state.selected.has(p));
    c.globalAlpha = out ? 0.08 : many > 20000 ? 0.6 : 0.9;
    c.fillStyle = rgb(colour);
    if (radius < 2) c.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    else { trace(c, colours && X[p] < colours.length ? markOf(markers ? markers[X[p]] : X[p]) : "circle", x, y, radius); c.fill(); }
    if (doubtful[p] && !out && how.kind === "group" && many <= 20000) { c.strokeStyle = css("--ring"); c.lineWidth = 1.6; trace(c, "circle", x, y, radius + 2); c.stroke(); }
    if (p === state.point) { c.strokeStyle = css("--mark"); c.lineWidth = 3; c.globalAlpha = 1; trace(c, "circle", x, y, radius + 5); c.stroke(); }
  }
  c.globalAlpha = 1;
  if (!canvas.isRecorder) spots.set(canvas, { xy, at, many });
};
const pointUnder = (canvas, e) => {
  const s = spots.get(canvas), box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
  let best = -1, near = 120;
  for (let i = 0; s && i < s.many; i++) { const d = (s.xy[2 * i] - x) ** 2 + (s.xy[2 * i + 1] - y) ** 2; if (d < near) { near = d; best = i; } }
  return best < 0 ? null : s.at(best);
};
const pointWords = (p) => [pointName(p), A.labels[p] < A.k ? `group ${groupName(A.labels[p])}` : "in no group", Number.isNaN(A.placed[p]) || isAlone() ? null : `${percent(A.placed[p])} of the clusterings agree`];
const drawScatter = () => {
  if (!P.place) return;
  const canvas = $("scatter"), how = colourings[state.colour] || colourings[0], w = Math.min(canvas.parentElement.clientWidth, 760), h = Math.round(Math.min(w * 0.72, 520));
  paintPoints(canvas, w, h, how);
  const k = how.kind === "member" ? D.ks[how.i] : A.k, marks = how.kind === "member" ? memberMarks(how.i) : range(A.k);
  fill($("scatter-legend"), how.kind === "score" ? legend("in doubt", "agreed", (t) => stabilityColour(0.4 + 0.6 * t), "share of the clusterings that put a point with its group")
    : el("div", { class: "legend" }, marks.slice(0, 40).map((x, i) => el("span", { class: "key" }, swatch(x), short(how.kind === "member" ? clusterName(how.i, i) : groupName(i), 16))), k > 40 ? el("span", { class: "muted" }, `and ${k - 40} more`) : null));
};
const select = (points) => { // points chosen in one picture are chosen in all
  state.selected = points && points.length ? new Set(points) : null;
  remember(); drawFront(); drawScatter(); drawHistogram(); drawPointTable(); drawConsensus(); drawCompare();
};
const showPoint = (p) => { state.point = p; remember(); drawScatter(); drawPoint(); };
const brush = (canvas) => {
  let from = null;
  canvas.addEventListener("mousedown", (e) => { from = [e.clientX, e.clientY]; e.preventDefault(); });
  addEventListener("mouseup", (e) => {
    if (!from) return;
    const [x, y] = from, s = spots.get(canvas), box = canvas.getBoundingClientRect();
    from = null; $("brush").hidden = true;
    if (Math.abs(e.clientX - x) + Math.abs(e.clientY - y) < 8) { const p = pointUnder(canvas, e); if (p !== null) showPoint(p); else select(null); return; }
    const [x0, x1] = [x, e.clientX].map((v) => v - box.left).sort((a, b) => a - b), [y0, y1] = [y, e.clientY].map((v) => v - box.top).sort((a, b) => a - b);
    select(range(s.many).filter((i) => s.xy[2 * i] >= x0 && s.xy[2 * i] <= x1 && s.xy[2 * i + 1] >= y0 && s.xy[2 * i + 1] <= y1).map(s.at));
  });
  canvas.addEventListener("mousemove", (e) => {
    if (from) {
      const b = $("brush").style;
      $("brush").hidden = false;
      b.left = Math.min(from[0], e.clientX) + "px"; b.top = Math.min(from[1], e.clientY) + "px"; b.width = Math.abs(e.clientX - from[0]) + "px"; b.height = Math.abs(e.clientY - from[1]) + "px";
      return;
    }
    const p = pointUnder(canvas, e);
    if (p === null) hideTip(); else showTip(e.clientX, e.clientY, pointWords(p));
  });
  canvas.addEventListener("mouseleave", hideTip);
};
if (P.place) brush($("scatter"));
const BINS = 20;
const binOf = (x) => Math.min(BINS - 1, Math.floor(x * BINS + 1e-9));
const drawHistogram = () => {
  if (isAlone()) return fill($("histogram"));
  const counts = new Array(BINS).fill(0), inside = new Array(BINS).fill(0);
  A.placed.forEach((x, p) => { if (!Number.isNaN(x)) { counts[binOf(x)] += 1; if (state.selected && state.selected.has(p)) inside[binOf(x)] += 1; } });
  const box = $("histogram"), w = Math.min(box.clientWidth || 500, 560), h = 210, pad = { left: 52, right: 8, top: 22, bottom: 36 }, most = Math.max(...counts, 1);
  const fx = (t) => pad.left + t * (w - pad.left - pad.right), fy = (c) => h - pad.bottom - c / most * (h - pad.top - pad.bottom), bw = Math.max(fx(1 / BINS) - fx(0) - 1, 1);
  const pick = (i) => select(range(D.n).filter((p) => !Number.isNaN(A.placed[p]) && binOf(A.placed[p]) === i));
  fill(box, svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "Histogram of the share of clusterings that put a point with its group" },
    axes(w, h, pad, [0, 0.25, 0.5, 0.75, 1], [0, most], "share of the clusterings that put a point with its group", "points", fx, fy),
    counts.map((c, i) => [hint(svg("rect", { x: fx(i / BINS) + 0.5, width: bw, y: fy(c), height: h - pad.bottom - fy(c), fill: rgb(stabilityColour((i + 0.5) / BINS)), onclick: () => pick(i) }), [`${percent(i / BINS)} to ${percent((i + 1) / BINS)}`, plural(c, "point"), "click to choose them"]),
      inside[i] ? svg("rect", { x: fx(i / BINS) + 0.5, width: bw, y: fy(inside[i]), height: h - pad.bottom - fy(inside[i]), class: "chosen" }) : null])),
    saver("agreement-on-points", () => box.querySelector("svg"), () => [["from", "to", "points"], ...counts.map((c, i) => [i / BINS, (i + 1) / BINS, c])]));
};
let pointSearch = "";
const MOST_LISTED = 200;
let listed = 10;
const drawPointTable = () => {
  const words = pointSearch.toLowerCase();
  let rows = state.selected ? [...state.selected] : state.disputed || !words ? Array.from(A.disputed) : range(D.n);
  if (words) rows = rows.filter((p) => pointName(p).toLowerCase().includes(words));
  rows.sort((p, q) => (Number.isNaN(A.placed[p]) ? 2 : A.placed[p]) - (Number.isNaN(A.placed[q]) ? 2 : A.placed[q]) || p - q);
  const shown = rows.slice(0, Math.min(listed, MOST_LISTED));
  $("point-said").textContent = state.selected ? `${plural(state.selected.size, "point")} chosen.` : words ? `${plural(rows.length, "point")} found.` : rows.length ? `${plural(rows.length, "disputed point")}, the most disputed first.` : isAlone() ? "" : "No point is disputed.";
  $("unselect").hidden = !state.selected;
  fill($("point-table"), shown.length ? table(["point", "group", "others say", "agreement"], shown.map((p) => [button(short(pointName(p), 36), () => showPoint(p), { class: "link" }), A.labels[p] < A.k ? groupName(A.labels[p]) : "–", A.elsewhere[p] < A.k ? groupName(A.elsewhere[p]) : "–", Number.isNaN(A.placed[p]) ? "–" : percent(A.placed[p])]), "Points") : null,
    rows.length > shown.length && shown.length < MOST_LISTED ? button("Show more", () => { listed = MOST_LISTED; drawPointTable(); }) : null,
    rows.length > MOST_LISTED && shown.length === MOST_LISTED ? el("p", { class: "muted" }, `The first ${MOST_LISTED} of ${whole(rows.length)}; all are in the CSV.`) : null);
};
const drawPoint = () => { // one point: its label in every clustering
  const p = state.point, box = $("point-detail");
  if (p === null) return fill(box);
  const rows = labels ? D.own.concat(D.reference === null ? [] : [D.reference]).map((i) => { const c = hard[i]()[p]; return [starred(i), c < D.ks[i] ? clusterName(i, c) : "–"]; }) : [];
  const counts = new Map();
  for (const [, c] of rows) counts.set(c, (counts.get(c) || 0) + 1);
  fill(box, el("h3", {}, short(pointName(p), 60)), el("p", {}, pointWords(p).slice(1).filter(Boolean).join("; ") + (A.elsewhere[p] < A.k ? `; the others put it in ${groupName(A.elsewhere[p])}.` : ".")),
    labels ? el("div", { class: "labels" }, table(["clustering", "its cluster there"], rows.slice(0, 400).map((r) => [short(r[0], 50), short(r[1], 30)]), "The point in every clustering")) : el("p", { class: "muted" }, `${said("too_large")}.`), button("Close", () => { state.point = null; remember(); drawPoint(); drawScatter(); }));
};
