// --- the answer ----------------------------------------------------------------------------------------------------
const duplicates = lazy(() => { // all but the first clustering of each partition; the reference is not among them
  const seen = new Set(), found = new Set();
  for (const i of D.own) { const key = D.same[i] === null ? i : D.same[i]; if (seen.has(key)) found.add(i); seen.add(key); }
  return found;
});
const isDuplicate = (i) => duplicates().has(i);
const countedNow = () => { // as counted_of in Python, without hidden clusterings, and with those put back
  const visible = D.own.filter((i) => !state.hidden.has(i)), plain = visible.filter((i) => state.back.trivial || !D.trivial[i]), kept = plain.length ? plain : visible;
  const key = (i) => D.same[i] === null ? i : D.same[i], seen = new Set();
  return state.distinct ? kept.filter((i) => !seen.has(key(i)) && seen.add(key(i))) : kept;
};
const given = lazy(() => ({
  ...D.answer, labels: decoded(D.answer.labels), elsewhere: decoded(D.answer.elsewhere), disputed: decoded(D.answer.disputed),
  placed: Float64Array.from(decoded(D.answer.placed), (q) => q === 65535 ? NaN : q / 65520), all: D.own.filter((i) => D.counts[i]), isGiven: true,
}));
const summed = (base, k, votes, rest) => {
  const sizes = new Array(k).fill(0), doubtful = [];
  let known = 0;
  for (const c of base) if (c < k) sizes[c] += 1;
  votes.placed.forEach((x, p) => { if (!Number.isNaN(x)) { known += 1; if (x < D.limits.consistent - 1e-12) doubtful.push(p); } });
  doubtful.sort((p, q) => votes.placed[p] - votes.placed[q] || p - q);
  const agreement = votes.agreement;
  const chance = chanceOf(base, k, rest.counted.map((i) => [hard[i](), D.ks[i]]), rest.pair), consistent = known ? 1 - doubtful.length / known : NaN;
  const firmness = votes.stability.map((x, c) => chance.stability[c] < 1 - 1e-12 ? (x - chance.stability[c]) / (1 - chance.stability[c]) : Number(x >= 1 - 1e-12));
  return { ...rest, labels: base, k, sizes, chance: chance.stability, usual: chance.consistent, beyond: consistent > chance.highest + 1e-12, firmness, placed: votes.placed, elsewhere: votes.elsewhere, stability: votes.stability, agreement,
    disputed: doubtful, consistent, found: rest.counted.filter((i) => agreement[i] >= D.limits.found).length };
};
const answerOf = (all) => { // the shared groups of the clusterings that count now
  const start = given();
  if (all.join() === start.all.join()) return start;
  if (!labels) return { ...start, counted: all, all, found: all.filter((i) => start.agreement[i] >= D.limits.found).length, isGiven: false, isPartial: true };
  const members = (counted) => range(L).map((i) => [hard[i](), D.ks[i], counted.includes(i)]);
  if (all.length === 1 ? D.reference !== null : all.length === 2) {
    const first = all.length === 1 ? D.reference : all[0], counted = all.filter((i) => i !== first);
    return summed(hard[first](), D.ks[first], votesOf(hard[first](), D.ks[first], members(counted), true), { source: "clustering", by: D.names[first], pair: true, counted, all });
  }
  let base = start.pair ? hard[D.central]() : start.labels;
  const k = start.pair ? D.ks[D.central] : start.k, fit = (labelled) => all.reduce((sum, i) => sum + ariOf(contingency(labelled, k, hard[i](), D.ks[i])), 0);
  const sizesOf = (labelled) => labelled.reduce((sizes, c) => { if (c < k) sizes[c] += 1; return sizes; }, new Array(k).fill(0)), least = sizesOf(base).map((x) => x / 2);
  for (let round = 0; round < D.limits.rounds; round++) { // points move to the group that most clusterings vote for, as long as the groups agree more with them and none loses most of its points
    const next = votesOf(base, k, members(all), false).plurality;
    if (fit(next) <= fit(base) || sizesOf(next).some((x, c) => x < least[c])) break;
    base = next;
  }
  return summed(base, k, votesOf(base, k, members(all), false), { source: "consensus", by: start.by, pair: false, counted: all, all });
};
const median = (x) => { const s = x.filter((v) => !Number.isNaN(v)).sort((p, q) => p - q); return s.length ? (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2 : NaN; };
const between = (a, b) => median(a.flatMap((i) => b.filter((j) => j !== i).map((j) => value(M[0], i, j))));
const familiesNow = (all) => { // the families of Python, of the clusterings that count now
  const kept = D.families.map(([members, name]) => [members.filter((i) => all.includes(i)), name]).filter(([members]) => members.length > 1);
  const many = kept.reduce((s, [members]) => s + members.length, 0), parts = kept.map(([members, name]) => said("family", { many: members.length, name }));
  if (kept.length < 2 || many < 0.75 * all.length) return { families: 0 };
  return { families: kept.length, inside: Math.min(...kept.map(([x]) => between(x, x))), across: Math.max(...kept.flatMap(([x], i) => kept.slice(i + 1).map(([y]) => between(x, y)))),
    listed: parts.length > 4 ? `${parts.slice(0, 4).join(", ")} and ${parts.length - 4} more` : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}` };
};
const recoveryNow = (all) => { // of the reference: the best and the typical
  const rows = D.against && M[0].adjusted ? D.against.rows.filter((r) => all.includes(r.member) && isNumber(r.agreement)) : [];
  return rows.length ? { best_name: D.names[rows[0].member], best: rows[0].agreement, typical: median(rows.map((r) => r.agreement)) } : { best: NaN };
};
const sentenceOf = (a) => { // the facts of the answer, as answer in words.py
  if (a.isGiven) return a.sentence;
  const visible = D.own.filter((i) => !state.hidden.has(i)), plain = visible.filter((i) => !D.trivial[i]).length;
  const facts = { is_pair: a.pair || a.all.length === 1, many: a.all.length, plain, alike: plain || visible.length, k: a.k, consistent: a.consistent, disputed: a.disputed.length, chance: a.usual, is_beyond: a.beyond };
  if (facts.is_pair) {
    const first = a.pair ? D.names.indexOf(a.by) : a.all[0], other = a.pair ? a.counted[0] : first;
    return said("answer", { ...facts, other: D.names[other], by: D.names[first], is_reference: first === D.reference, value: value(M[0], first, other), is_adjusted: M[0].adjusted,
      is_same: first === other || (D.same[other] === first && first !== D.reference), k: a.pair ? a.k : D.ks[first] });
  }
  const unstable = a.firmness.filter((x) => inWords("stability", x) === "unstable").length, further = a.all.filter((i) => a.agreement[i] >= D.limits.found && D.ks[i] > a.k).length;
  return said("answer", { ...facts, is_same: new Set(a.all.map((i) => D.same[i] === null ? i : D.same[i])).size === 1, found: a.found, share: a.found / a.all.length, unstable, stable: a.k - unstable, split: further / Math.max(a.found, 1), ...familiesNow(a.all), ...recoveryNow(a.all) });
};
const figuresOf = (a) => { // the facts of the figures, as figures in words.py
  if (a.isGiven) return a.figures;
  const found = [], m = M[0], values = [], measure = { is_adjusted: m.adjusted, measure: m.plain };
  a.all.forEach((i, x) => { for (const j of a.all.slice(x + 1)) values.push(value(m, i, j)); });
  const pairs = values.filter(isNumber).length;
  if (pairs) found.push([median(values), "typical", { ...measure, pairs }]);
  const recovered = recoveryNow(a.all);
  if ("typical" in recovered && a.all.length > 2) found.push([recovered.typical, "ordinary", measure]);
  else if (a.all.length > 2) {
    const mean = (i) => { const v = a.all.filter((j) => j !== i).map((j) => value(m, i, j)).filter(isNumber); return v.reduce((x, y) => x + y, 0) / v.length; };
    const sign = m.better === "higher" ? -1 : 1, best = [...a.all].sort((i, j) => sign * (mean(i) - mean(j)) || i - j)[0];
    found.push([mean(best), "central", { name: D.names[best] }]);
  }
  const rows = D.against ? D.against.rows.filter((r) => !state.hidden.has(r.member)) : [], row = rows[0];
  if (row && isNumber(row.agreement)) found.push([row.agreement, "closest", { ...measure, name: D.names[row.member], rows: rows.length, tied: rows.filter((r) => Math.abs(r.agreement - row.agreement) < 1e-9).length }]);
  return found.map(([x, key, facts]) => [fmt(x), said(key, facts)]);
};

let A = null; // the answer as it is now
const setAside = () => ({ duplicates: D.own.filter((i) => isDuplicate(i) && !D.trivial[i]), trivial: D.own.filter((i) => D.trivial[i]) });
const drawAnswer = () => {
  $("sentence").textContent = sentenceOf(A).trimEnd();
  $("use").hidden = !A.isGiven;
  fill($("figures"), figuresOf(A).map(([x, text], i) => el("div", { class: "tile" }, el("b", {}, x), el("span", {}, text, i === 0 ? [" ", help("agreement")] : null))));
  const chip = (text, pressed, act, term) => el("span", { class: "chip" }, button(text, act, { "aria-pressed": String(pressed) }), term ? help(term) : null);
  const aside = setAside(), many = aside.duplicates.length;
  const chips = [
    many ? chip(`Duplicates ${state.distinct ? "set aside" : "counted"}`, state.distinct, () => { state.distinct = !state.distinct; renew(); }, "duplicate") : null,
    aside.trivial.length ? chip(`${whole(aside.trivial.length)} near-trivial ${state.back.trivial ? "counted" : "set aside"}`, !state.back.trivial, () => { state.back.trivial = !state.back.trivial; renew(); }, "near-trivial") : null,
    A.beyond && A.disputed.length ? chip("Disputed points only", state.disputed, () => { state.disputed = !state.disputed; remember(); drawFront(); drawAnswer(); drawScatter(); drawPointTable(); }, "disputed") : null,
    state.hidden.size ? chip(`${whole(state.hidden.size)} hidden: show`, true, () => { state.hidden.clear(); renew(); }) : null];
  fill($("chips"), chips);
  if (!A.isGiven && !A.pair && !given().pair) $("chips").append(el("span", { class: "muted" }, said("kept", { is_partial: Boolean(A.isPartial) })));
  drawBars();
};
const MOST_BARS = 12;
const isAlone = () => A.pair && D.names.indexOf(A.by) === A.counted[0]; // nothing to agree with
const stabilityWords = (c) => `${inWords("stability", A.firmness[c])}: stability ${fmt(A.stability[c])}, of unrelated clusterings ${fmt(A.chance[c])}`;
const drawBars = () => {
  const most = Math.max(...A.sizes, 1), shown = range(Math.min(A.k, MOST_BARS));
  fill($("bars"), el("h2", { class: "quiet" }, A.pair ? `Groups of ${A.by}` : "The groups", " ", help(isAlone() ? "group" : "stability")),
    shown.map((c) => {
      const word = inWords("stability", A.firmness[c]), name = A.pair ? groupName(c) : letter(c);
      return hint(button([el("span", { class: "name" }, short(name, 14)), el("span", { class: "track" }, el("span", { class: "size", style: `width:${(100 * A.sizes[c] / most).toFixed(1)}%;background:${rgb(clusterColour(c))}` })),
        el("span", { class: "words" }, `${whole(A.sizes[c])}${isAlone() ? "" : ` · ${word}`}`)], () => { $(`cluster-${c}`).scrollIntoView({ block: "center" }); $(`cluster-${c}`).focus(); },
      { class: "group" }), [`Group ${name}`, plural(A.sizes[c], "point"), isAlone() ? null : stabilityWords(c)]);
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
  const first = D.names.indexOf(A.by), other = isAlone() ? D.first.find((i) => i !== first) : A.counted[0], v = other === undefined ? null : pairView(first, other);
  if (!v) return fill(box);
  const canvas = freshCanvas(box, "table"), rows = v.names[0].slice(0, MOST_SIDE), columns = v.names[1].slice(0, MOST_SIDE), width = Math.min(box.clientWidth || 600, 700), probe = canvas.getContext("2d");
  if (!canvas.parentElement) fill(box, canvas, el("p", { class: "muted" }, `Rows: clusters of ${short(A.by, 40)}. Columns: clusters of ${short(D.names[other], 40)}. The brighter a cell, the more of the row's points are in the column.`), legend("0%", "100%", viridis, "share of the row's points"),
    saver("table-of-clusters", () => canvas, () => [["", ...v.names[1]], ...v.names[0].map((name, i) => [name, ...v.counts[i]])]));
  probe.font = FACE;
  const left = Math.min(Math.max(...rows.map((t) => probe.measureText(short(t, 20)).width)) + 14, width * 0.35), top = 22;
  const step = Math.min((width - left - 2) / columns.length, Math.max(200, window.innerHeight - 480) / rows.length, 60);
  const paint = (to) => paintTable(sharp(to, width, top + step * rows.length + 4), v, rows, columns, [left, top, step, width]);
  canvas.setAttribute("aria-label", `Table of the clusters of ${A.by} and ${D.names[other]}`);
  painters.set(canvas, paint);
  paint(canvas);
};
const paintTable = (c, v, rows, columns, [left, top, step, width]) => {
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
    if (!canvas.parentElement) fill(box, canvas, el("p", { class: "muted" }, isAlone() ? "Every point of the data, coloured by its group." : "Every point of the data, coloured by its group; disputed points have a ring."), saver("points-by-group", () => canvas, pointRows));
    const width = Math.min(box.clientWidth || 600, 760), height = Math.max(240, Math.min(Math.round(width * 0.62), window.innerHeight - 470));
    canvas.setAttribute("aria-label", `The points by group: ${plural(D.n, "point")} in ${plural(A.k, "group")}, ${whole(A.disputed.length)} disputed`);
    paintPoints(canvas, width, height, { kind: "group" });
    return;
  }
  if (A.pair) return drawFrontPair(box);
  const canvas = freshCanvas(box, "matrix");
  const [low, high] = domain(M[0]);
  if (!canvas.parentElement) fill(box, canvas, familyKeys(), legend(fmt(low), fmt(high), (t) => viridis(M[0].better === "higher" ? t : 1 - t), `${M[0].plain}, ${arrow(M[0])}`),
    el("p", { class: "muted" }, "Each cell compares two clusterings; similar ones are next to each other."), saver("agreement-matrix", () => canvas, matrixRows));
  const order = Array.from(M[0].order()).filter((i) => i === D.reference || A.all.includes(i));
  canvas.setAttribute("aria-label", `Matrix of the agreement of ${plural(order.length, "clustering")}`);
  const side = Math.min(box.clientWidth || 600, 700), names = Math.min(order.length, 24) * 44 + 240;
  paintMatrix(canvas, Math.min(side, names), M[0], order, { tall: Math.max(200, window.innerHeight - 480) });
};
