// --- the answer ----------------------------------------------------------------------------------------------------
const duplicates = lazy(() => { // all but the first clustering of each partition; the reference is not among them
  const seen = new Set(), found = new Set();
  for (const i of D.own) { const key = D.same[i] === null ? i : D.same[i]; if (seen.has(key)) found.add(i); seen.add(key); }
  return found;
});
const isDuplicate = (i) => duplicates().has(i);
const CONSISTENT = 0.75, FOUND = 0.65;
const countedNow = () => { // as counted_of in Python, without hidden clusterings, and with those put back
  const visible = D.own.filter((i) => !state.hidden.has(i));
  let kept = visible.filter((i) => state.back.trivial || !D.trivial[i]);
  if (!kept.length) kept = visible;
  const seen = new Set();
  return kept.filter((i) => {
    const key = D.same[i] === null ? i : D.same[i];
    if (seen.has(key) && !state.back.duplicates) return false;
    seen.add(key);
    return true;
  });
};
const given = lazy(() => ({
  ...D.answer, labels: decoded(D.answer.labels), elsewhere: decoded(D.answer.elsewhere), disputed: decoded(D.answer.disputed),
  placed: Float64Array.from(decoded(D.answer.placed), (q) => q === 65535 ? NaN : q / 65520), all: D.own.filter((i) => D.counts[i]), isGiven: true,
}));
const summed = (base, k, votes, rest) => {
  const sizes = new Array(k).fill(0), doubtful = [];
  let known = 0;
  for (const c of base) if (c < k) sizes[c] += 1;
  votes.placed.forEach((x, p) => { if (!Number.isNaN(x)) { known += 1; if (x < CONSISTENT - 1e-12) doubtful.push(p); } });
  doubtful.sort((p, q) => votes.placed[p] - votes.placed[q] || p - q);
  const agreement = votes.agreement;
  return { ...rest, labels: base, k, sizes, placed: votes.placed, elsewhere: votes.elsewhere, stability: votes.stability, agreement,
    disputed: doubtful, consistent: known ? 1 - doubtful.length / known : NaN, found: rest.counted.filter((i) => agreement[i] >= FOUND).length };
};
const answerOf = (all) => { // the shared groups of the clusterings that count now
  const start = given();
  if (all.join() === start.all.join()) return start;
  if (!labels) return { ...start, counted: all, all, found: all.filter((i) => start.agreement[i] >= FOUND).length, isGiven: false, isPartial: true };
  const members = (counted) => range(L).map((i) => [hard[i](), D.ks[i], counted.includes(i)]);
  if (all.length === 1 ? D.reference !== null : all.length === 2) {
    const first = all.length === 1 ? D.reference : all[0], counted = all.filter((i) => i !== first);
    return summed(hard[first](), D.ks[first], votesOf(hard[first](), D.ks[first], members(counted), true), { source: "clustering", by: D.names[first], pair: true, counted, all });
  }
  let base = start.pair ? hard[D.central]() : start.labels;
  const k = start.pair ? D.ks[D.central] : start.k;
  for (let round = 0; round < 5; round++) { // points move to the group that most clusterings vote for, until none does
    const next = votesOf(base, k, members(all), false).plurality;
    if (next.every((c, p) => c === base[p])) break;
    base = next;
  }
  return summed(base, k, votesOf(base, k, members(all), false), { source: "consensus", by: start.by, pair: false, counted: all, all });
};
const sentenceOf = (a) => { // as answer in words.py
  if (a.isGiven) return a.sentence;
  if (!a.all.length) return "Every clustering is hidden.";
  if (a.all.length === 1 && !a.pair) return `Only “${D.names[a.all[0]]}” is left: ${plural(D.ks[a.all[0]], "group")}.`;
  if (a.pair) {
    const other = a.counted[0], first = D.names.indexOf(a.by), v = value(M[0], first, other);
    const pair = `“${D.names[other]}” and ${first === D.reference ? "the reference " : ""}“${a.by}”`;
    if (Number.isNaN(v)) return `${pair} have no point in common.`;
    return `${pair} ${M[0].adjusted ? `agree ${inWords(D.readings, v)}` : `have a value of ${fmt(v)}`}. ${percent(a.consistent)} of the points are in matching clusters` +
      (a.disputed.length ? `; ${plural(a.disputed.length, "is", "are")} not.` : ".");
  }
  const many = a.all.length, share = a.found / many, plain = D.own.filter((i) => !state.hidden.has(i) && !D.trivial[i]).length;
  const these = `these ${whole(many)} ${many < plain ? "different " : ""}clusterings`, groups = plural(a.k, "group");
  const unstable = a.stability.filter((x) => inWords(D.stability, x) === "unstable").length, most = share === 1 ? "All" : share >= 0.8 ? "Nearly all" : "Most";
  const first = share < 0.2 || (share > 0.5 && unstable === a.k) ? `T${these.slice(1)} do not find the same groups.`
    : share <= 0.5 ? `Only ${whole(a.found)} of ${these} find${a.found === 1 ? "s" : ""} the same ${groups}.`
    : unstable ? `${most} of ${these} agree on ${whole(a.k - unstable)} of ${whole(a.k)} groups; the other ${unstable === 1 ? "one is" : `${whole(unstable)} are`} unstable.`
    : `${most} of ${these} find the same ${groups}${a.all.filter((i) => a.agreement[i] >= FOUND && D.ks[i] > a.k).length > a.found / 2 ? ", and most of them split these further" : ""}.`;
  const n = a.disputed.length;
  return `${first} ` + (Number.isNaN(a.consistent) ? "No point is in any of them." : n === 0 ? "Every point is placed consistently."
    : `${percent(a.consistent)} of the points are placed consistently; ${whole(n)} ${n === 1 ? "is" : "are"} disputed.`);
};
const median = (x) => { const s = x.filter((v) => !Number.isNaN(v)).sort((p, q) => p - q); return s.length ? (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2 : NaN; };
const figuresOf = (a) => { // as figures in words.py
  if (a.isGiven) return a.figures;
  const found = [], m = M[0], values = [];
  a.all.forEach((i, x) => { for (const j of a.all.slice(x + 1)) values.push(value(m, i, j)); });
  if (values.length) found.push([fmt(median(values)), values.length === 1 ? "agreement of the two clusterings" : "agreement of a typical pair of clusterings"]);
  if (a.all.length > 2) {
    const mean = (i) => { const v = a.all.filter((j) => j !== i).map((j) => value(m, i, j)).filter(isNumber); return v.reduce((x, y) => x + y, 0) / v.length; };
    const sign = m.better === "higher" ? -1 : 1, best = [...a.all].sort((i, j) => sign * (mean(i) - mean(j)) || i - j)[0];
    found.push([fmt(mean(best)), `“${D.names[best]}” agrees most with the others`]);
  }
  const row = D.against && D.against.rows.find((r) => !state.hidden.has(r.member));
  if (row) found.push([fmt(row.agreement), `“${D.names[row.member]}” agrees most with the reference`]);
  return found;
};

let A = null; // the answer as it is now
const setAside = () => ({ duplicates: D.own.filter((i) => isDuplicate(i) && !D.trivial[i]), trivial: D.own.filter((i) => D.trivial[i]) });
const drawAnswer = () => {
  $("sentence").textContent = sentenceOf(A);
  fill($("figures"), figuresOf(A).map(([x, text], i) => el("div", { class: "tile" }, el("b", {}, x), el("span", {}, text, i === 0 ? [" ", help("agreement")] : null))));
  const chip = (text, pressed, act, term) => el("span", { class: "chip" }, button(text, act, { "aria-pressed": String(pressed) }), term ? help(term) : null);
  const aside = setAside(), flip = (key) => () => { state.back[key] = !state.back[key]; renew(); };
  const chips = [
    aside.duplicates.length ? chip(`${plural(aside.duplicates.length, "duplicate")} ${state.back.duplicates ? "counted" : "set aside"}`, !state.back.duplicates, flip("duplicates"), "duplicates") : null,
    aside.trivial.length ? chip(`${whole(aside.trivial.length)} near-trivial ${state.back.trivial ? "counted" : "set aside"}`, !state.back.trivial, flip("trivial"), "trivial") : null,
    A.disputed.length ? chip("Disputed points only", state.disputed, () => { state.disputed = !state.disputed; remember(); drawFront(); drawAnswer(); drawScatter(); drawPointTable(); }, "disputed") : null,
    state.hidden.size ? chip(`${whole(state.hidden.size)} hidden: show`, true, () => { state.hidden.clear(); renew(); }) : null];
  fill($("chips"), chips);
  if (A.isPartial) $("chips").append(el("span", { class: "muted" }, "The labels are too large for this page: the groups are those of all clusterings."));
  drawBars();
};
const MOST_BARS = 12;
const drawBars = () => {
  const most = Math.max(...A.sizes, 1), few = A.k <= 4, shown = range(Math.min(A.k, MOST_BARS));
  fill($("bars"), el("h2", { class: "quiet" }, A.pair ? `Groups of ${A.by}` : "The groups", " ", help("stability")),
    shown.map((c) => {
      const word = inWords(D.stability, A.stability[c]), name = A.pair ? groupName(c) : letter(c);
      return hint(button([el("span", { class: "name" }, short(name, 14)), el("span", { class: "track" }, el("span", { class: "size", style: `width:${(100 * A.sizes[c] / most).toFixed(1)}%;background:${rgb(clusterColour(c))}` })),
        el("span", { class: "words" }, few ? `${whole(A.sizes[c])} · ${word}` : word)], () => { $(`cluster-${c}`).scrollIntoView({ block: "center" }); $(`cluster-${c}`).focus(); },
      { class: "group" }), [`Group ${name}`, plural(A.sizes[c], "point"), `stability ${fmt(A.stability[c])}: ${word}`]);
    }), A.k > MOST_BARS ? el("p", { class: "muted" }, el("a", { href: "#clusters", onclick: jump }, "and the smaller ones")) : null);
};
const groupName = (c) => {
  if (!A.pair) return letter(c);
  const first = D.names.indexOf(A.by);
  if (!labels || first < 0 || !A.isGiven) return labels && first >= 0 ? clusterName(first, c) : letter(c);
  return clusterName(first, ownOrder(first)[c]);
};
const ownOrder = (i) => { // the clusters of a clustering by size, as the shared groups are numbered
  const sizes = new Float64Array(D.ks[i]);
  for (const c of hard[i]()) if (c < D.ks[i]) sizes[c] += 1;
  return range(D.ks[i]).sort((x, y) => sizes[y] - sizes[x] || x - y);
};
// the picture beside the answer: the points if there are data; of two clusterings their table; otherwise all clusterings
const freshCanvas = (box, kind) => { const found = box.querySelector(`canvas[data-kind="${kind}"]`); return found || el("canvas", { role: "img", "data-kind": kind }); };
const MOST_SIDE = 24;
const drawFrontPair = (box) => {
  const first = D.names.indexOf(A.by), other = A.counted[0], v = first === other ? null : pairView(first, other);
  if (!v) return fill(box);
  const canvas = freshCanvas(box, "table"), rows = v.names[0].slice(0, MOST_SIDE), columns = v.names[1].slice(0, MOST_SIDE), width = Math.min(box.clientWidth || 600, 700), probe = canvas.getContext("2d");
  if (!canvas.parentElement) fill(box, canvas, el("p", { class: "muted" }, `Rows: clusters of ${short(A.by, 40)}. Columns: clusters of ${short(D.names[other], 40)}. The brighter a cell, the more of the row's points are in the column.`),
    saver("table-of-clusters", () => canvas, () => [["", ...v.names[1]], ...v.names[0].map((name, i) => [name, ...v.counts[i]])]));
  probe.font = FACE;
  const left = Math.min(Math.max(...rows.map((t) => probe.measureText(short(t, 20)).width)) + 14, width * 0.35), top = 22;
  const step = Math.min((width - left - 2) / columns.length, Math.max(200, window.innerHeight - 480) / rows.length, 60), c = sharp(canvas, width, top + step * rows.length + 4);
  canvas.setAttribute("aria-label", `Table of the clusters of ${A.by} and ${D.names[other]}`);
  c.clearRect(0, 0, width, top + step * rows.length + 4);
  c.font = FACE; c.textBaseline = "middle";
  rows.forEach((name, i) => {
    const sum = v.counts[i].reduce((x, y) => x + y, 0) || 1, y = top + i * step;
    c.textAlign = "right"; c.fillStyle = css("--fg"); c.fillText(short(name, 20), left - 8, y + step / 2, left - 10);
    columns.forEach((_, j) => { c.fillStyle = rgb(viridis(v.counts[i][j] / sum)); c.fillRect(left + j * step, y, Math.max(step - 1, 1), Math.max(step - 1, 1)); });
  });
  c.textAlign = "center"; c.fillStyle = css("--fg");
  columns.forEach((name, j) => { if (step >= 14) c.fillText(short(name, Math.max(2, Math.floor(step / 7))), left + (j + 0.5) * step, top / 2, step); });
};
const drawFront = () => {
  const box = $("front");
  if (D.points.place) {
    const canvas = freshCanvas(box, "points");
    if (!canvas.parentElement) fill(box, canvas, el("p", { class: "muted" }, "Every point of the data, coloured by its group; disputed points have a ring."), saver("points-by-group", () => canvas, pointRows));
    const width = Math.min(box.clientWidth || 600, 760), height = Math.max(240, Math.min(Math.round(width * 0.62), window.innerHeight - 470));
    canvas.setAttribute("aria-label", `The points by group: ${plural(D.n, "point")} in ${plural(A.k, "group")}, ${whole(A.disputed.length)} disputed`);
    paintPoints(canvas, width, height, { kind: "group" });
    return;
  }
  if (A.pair) return drawFrontPair(box);
  const canvas = freshCanvas(box, "matrix");
  if (!canvas.parentElement) fill(box, canvas, el("p", { class: "muted" }, "Agreement of each pair of clusterings: the brighter, the more they agree. Similar clusterings are next to each other."), saver("agreement-matrix", () => canvas, matrixRows));
  const order = Array.from(M[0].order()).filter((i) => i === D.reference || A.all.includes(i));
  canvas.setAttribute("aria-label", `Matrix of the agreement of ${plural(order.length, "clustering")}`);
  const side = Math.min(box.clientWidth || 600, 700), names = Math.min(order.length, 24) * 44 + 240;
  paintMatrix(canvas, Math.min(side, names), M[0], order, { tall: Math.max(200, window.innerHeight - 480) });
};
