// --- which clustering: one table ---------------------------------------------------------------------------------------
const MOST_ROWS = 25;
let allRows = false, printing = false;
const rankOf = lazy(() => { const found = new Map(); if (D.against) for (const r of D.against.rows) found.set(r.member, r); return found; });
const middleHalf = (i) => { // quartiles of the agreement with the others that count
  const v = A.all.filter((j) => j !== i).map((j) => value(M[0], i, j)).filter(isNumber).sort((a, b) => a - b), at = (q) => v[Math.round(q * (v.length - 1))];
  return v.length > 3 ? [at(0.25), at(0.75)] : null;
};
const meanNow = (i) => {
  if (A.isGiven) return D.means[i] === null ? NaN : D.means[i];
  const v = A.all.filter((j) => j !== i).map((j) => value(M[0], i, j)).filter(isNumber);
  return v.length ? v.reduce((x, y) => x + y, 0) / v.length : NaN;
};
const rankedNow = () => { // every clustering with what the table shows of it
  const rank = rankOf(), words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = D.own.map((i) => {
    const r = rank.get(i);
    return { i, name: D.names[i], k: D.ks[i], agreement: r ? (r.agreement === null ? NaN : r.agreement) : meanNow(i), groups: A.agreement[i], interval: r ? r.interval : null, p: r ? r.pc : null, copy: isDuplicate(i) };
  }).filter((r) => words.every((w) => r.name.toLowerCase().includes(w)));
  const [by, way] = state.sort, sign = by === "agreement" && M[0].better === "lower" ? -way : way;
  const key = (r) => { const x = r[by]; return typeof x === "string" ? x.toLowerCase() : isNumber(x) ? x : sign > 0 ? Infinity : -Infinity; };
  return rows.sort((a, b) => { const x = key(a), y = key(b); return (x < y ? -1 : x > y ? 1 : 0) * sign || a.i - b.i; });
};
const copiesOf = lazy(() => {
  const found = new Map();
  for (const i of D.own) if (isDuplicate(i)) { const first = D.own.find((j) => j === D.same[i] || D.same[j] === D.same[i]); found.set(first, [...(found.get(first) || []), i]); }
  return found;
});
const drawRanking = () => {
  const searching = state.search !== "", every = rankedNow(), folded = every.filter((r) => searching || state.unfolded || printing || !r.copy);
  const shown = allRows || printing ? folded : folded.slice(0, MOST_ROWS), m = M[0];
  const values = every.flatMap((r) => [r.agreement, ...(r.interval || [])]).filter(isNumber);
  const lo = Math.min(0, ...values), hi = m.better === "higher" && isNumber(m.range_high) ? m.range_high : Math.max(...values, 1e-9), at = (x) => (100 * (x - lo) / ((hi - lo) || 1)).toFixed(1);
  const bar = (r) => {
    const span = D.against ? r.interval : middleHalf(r.i); // intervals of two kinds never stand in one table
    return el("span", { class: "meter", title: span ? `${fmt(span[0])} to ${fmt(span[1])}` : null }, el("span", { class: "level", style: `left:${at(Math.min(0, r.agreement))}%;width:${(at(Math.abs(r.agreement) + lo)) }%` }),
      span ? el("span", { class: "whisker", style: `left:${at(span[0])}%;width:${(at(span[1]) - at(span[0])).toFixed(1)}%` }) : null);
  };
  const flags = (r) => {
    const copies = copiesOf().get(r.i) || [];
    return [D.trivial[r.i] ? el("span", { class: "flag" }, `near-trivial: ${D.trivial[r.i]}`) : null, r.copy ? el("span", { class: "flag" }, `same as ${short(D.names[D.same[r.i]], 30)}`) : null,
      copies.length && !state.unfolded && !printing && !searching ? el("span", { class: "flag" }, `+ ${plural(copies.length, "duplicate")}`) : null,
      r.i === D.central && A.isGiven && A.all.length > 2 ? el("span", { class: "flag good" }, "most central") : null,
      isNumber(r.p) && r.p >= 0.01 ? el("span", { class: "flag" }, `p = ${Number(r.p.toPrecision(2))}`) : null,
      D.assigned[r.i] < D.n ? el("span", { class: "flag" }, `${percent(1 - D.assigned[r.i] / D.n)} without a label`) : null];
  };
  const head = [["name", "clustering"], ["k", "clusters"], ["agreement", D.against ? `agreement with ${short(D.against.name, 24)}` : "agreement with the others"], ["groups", "finds the groups"], [null, "notes"], [null, "hide"]];
  const sorter = ([key, text]) => key === null ? text : button([text, state.sort[0] === key ? (state.sort[1] > 0 ? " ▲" : " ▼") : ""], () => { state.sort = [key, state.sort[0] === key ? -state.sort[1] : key === "name" || key === "k" ? 1 : -1]; remember(); drawRanking(); }, { class: "sort" });
  const row = (r) => el("tr", { class: state.hidden.has(r.i) ? "hidden-row" : A.all.includes(r.i) ? null : "aside" },
    el("th", { scope: "row" }, button(short(r.name, 60), () => choose([otherThan(r.i), r.i]), { class: "link", title: "Compare it" })),
    el("td", {}, whole(r.k)), el("td", { class: "wide" }, el("span", { class: "number" }, fmt(r.agreement)), isNumber(r.agreement) ? bar(r) : null),
    el("td", {}, isNumber(r.groups) ? (r.groups >= D.limits.found ? "yes" : r.groups >= 0.4 ? "partly" : "no") : "–"), el("td", {}, flags(r)),
    el("td", {}, button(state.hidden.has(r.i) ? "show" : "hide", () => { if (state.hidden.has(r.i)) state.hidden.delete(r.i); else state.hidden.add(r.i); renew(); }, { "aria-label": `${state.hidden.has(r.i) ? "Show" : "Hide"} ${r.name}` })));
  fill($("ranking-table"), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The clusterings" }, el("table", {},
    el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col", "aria-sort": h[0] !== null && state.sort[0] === h[0] ? (state.sort[1] > 0 ? "ascending" : "descending") : null }, sorter(h))))), el("tbody", {}, shown.map(row)))),
    every.length ? null : el("p", { class: "muted" }, "No clustering has this name."),
    shown.length < folded.length ? button(`Show all ${whole(folded.length)}`, () => { allRows = true; drawRanking(); }) : null);
  const copies = D.own.filter(isDuplicate).length, unfold = $("unfold");
  unfold.hidden = !copies;
  unfold.textContent = state.unfolded ? "Collapse duplicates" : `Show ${plural(copies, "duplicate")}`;
};
const rankingRows = () => [["clustering", "clusters", "agreement", "low", "high", "p", "finds the groups", "same as", "near-trivial", ...(D.against ? M.map((m) => m.title) : [])],
  ...rankedNow().map((r) => [r.name, r.k, r.agreement, ...(r.interval || ["", ""]), r.p, r.groups, D.same[r.i] === null ? "" : D.names[D.same[r.i]], D.trivial[r.i], ...(D.against ? rankOf().get(r.i).values : [])])];
const otherThan = (i) => D.reference !== null && i !== D.reference ? D.reference : i !== D.central ? D.central : D.first[1] !== i ? D.first[1] : D.own.find((j) => j !== i);
