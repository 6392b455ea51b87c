// --- compare: two to five clusterings, in a panel that opens on a click ---------------------------------------------
const MOST_FLOWS = 120, SLOT = 15;
const tableView = (a, b) => { // a pair that was counted before the page was made, because the labels are too large
  const t = D.tables.find((x) => (x.a === a && x.b === b) || (x.a === b && x.b === a));
  if (!t) return null;
  const flat = decoded(t.counts), w = t.columns.length, counts = t.rows.map((_, i) => Array.from(flat.subarray(i * w, (i + 1) * w)));
  const v = { names: [t.rows, t.columns], counts, matched: t.matched, rest: t.rest, agreed: t.agreed, worst: t.worst, exact: true };
  if (t.a === a) return v;
  return { names: [t.columns, t.rows], counts: t.columns.map((_, j) => counts.map((r) => r[j])), matched: t.matched.map(([i, j]) => [j, i]), rest: [t.rest[1], t.rest[0]],
    agreed: t.agreed, worst: t.worst.map((x) => [x[0], 1 - x[1], x[2], x[3], x[4]]), exact: true };
};
const pairView = (a, b) => { // as flow_of and worst_matches in Python
  if (!labels) return tableView(a, b);
  const cells = cellsBetween(a, b);
  if (!cells.length) return null;
  const f = flowOf(D.ks[a], D.ks[b], cells, MOST_FLOWS), place = [f.rows, f.columns].map((nodes, side) => { const at = new Int32Array(D.ks[side ? b : a]); nodes.forEach((c, x) => c.forEach((i) => { at[i] = x; })); return at; });
  const names = [f.rows, f.columns].map((nodes, side) => nodes.map((c, x) => c.length === 1 ? clusterName(side ? b : a, c[0]) : `${c.length} ${x < f.paired ? "other pairs" : "without a partner"}`));
  const counts = f.rows.map(() => new Array(f.columns.length).fill(0)), best = [new Map(), new Map()];
  for (const [i, j, w] of cells) {
    counts[place[0][i]][place[1][j]] += w;
    const jac = w / (f.rs[i] + f.cs[j] - w);
    if (!best[0].has(i) || best[0].get(i)[1] < jac) best[0].set(i, [j, jac]);
    if (!best[1].has(j) || best[1].get(j)[1] < jac) best[1].set(j, [i, jac]);
  }
  const worst = best.flatMap((found, side) => [...found].map(([i, [j, x]]) => [clusterName(side ? b : a, i), side, (side ? f.cs : f.rs)[i], clusterName(side ? a : b, j), x]))
    .sort((x, y) => x[4] - y[4] || y[2] - x[2]).slice(0, 8);
  const rest = [f.rows, f.columns].map((nodes) => nodes.map((c, x) => c.length > 1 ? x : -1).filter((x) => x >= 0));
  return { names, counts, matched: range(f.paired).map((i) => [i, i]), rest, agreed: f.agreed, worst, exact: f.exact, nodes: [f.rows, f.columns] };
};
const chainView = (members) => { // several clusterings: each column in the order of the one before it
  const flows = members.slice(1).map((b, x) => flowOf(D.ks[members[x]], D.ks[b], cellsBetween(members[x], b), MOST_FLOWS));
  const orders = [flows[0].rows.flat()];
  flows.forEach((f, x) => { const partners = orders[x].map((i) => f.partner[i]).filter((j) => j >= 0), has = new Set(partners); orders.push([...partners, ...f.columns.flat().filter((j) => !has.has(j))]); });
  const columns = orders.map((order, x) => {
    const nodes = order.length > MOST_FLOWS + 1 ? [...order.slice(0, MOST_FLOWS).map((i) => [i]), order.slice(MOST_FLOWS)] : order.map((i) => [i]);
    return { member: members[x], nodes, names: nodes.map((c) => c.length === 1 ? clusterName(members[x], c[0]) : `${c.length} others`) };
  });
  const colours = [columns[0].nodes.map((c, i) => c.length > 1 ? GREY : clusterColour(i))];
  flows.forEach((f, x) => { const of = new Map(); columns[x].nodes.forEach((c, i) => c.forEach((q) => { if (f.partner[q] >= 0) of.set(f.partner[q], colours[x][i]); })); colours.push(columns[x + 1].nodes.map((c) => of.get(c[0]) || GREY)); });
  return { columns, colours };
};
const countsBetween = (left, right, only) => { // points that two columns of nodes share; `only` restricts the points
  const place = [left, right].map((col) => { const at = new Int32Array(D.ks[col.member] + 1).fill(-1); col.nodes.forEach((c, x) => c.forEach((i) => { at[i] = x; })); return at; });
  const out = left.nodes.map(() => new Array(right.nodes.length).fill(0)), X = hard[left.member](), Y = hard[right.member]();
  const add = (p) => { const i = place[0][Math.min(X[p], D.ks[left.member])], j = place[1][Math.min(Y[p], D.ks[right.member])]; if (i >= 0 && j >= 0) out[i][j] += 1; };
  if (only) for (const p of only) add(p); else for (let p = 0; p < D.n; p++) add(p);
  return out;
};
const drawFlow = (box, columns, colours, flows, marked, matched) => {
  const width = Math.min(box.clientWidth || 660, 900), phone = width < 520, label = phone ? 74 : 130, bar = 10, last = columns.length - 1;
  const sums = columns.map((col, x) => x === 0 ? flows[0].map((r) => r.reduce((p, q) => p + q, 0)) : col.names.map((_, j) => flows[x - 1].reduce((s, r) => s + r[j], 0)));
  const total = Math.max(...sums.map((s) => s.reduce((p, q) => p + q, 0))) || 1, room = 300;
  const places = sums.map((s) => { let y = 0; return s.map((w) => { const h = Math.max(w / total * room, 1), slot = Math.max(h, SLOT), at = [y + (slot - h) / 2, h]; y += slot + 2; return at; }); });
  const height = Math.max(...places.map((p) => p.length ? p[p.length - 1][0] + Math.max(p[p.length - 1][1], SLOT) : 0)) + 8;
  const xs = columns.map((_, x) => label + x * (width - 2 * label - bar) / last), parts = [];
  flows.forEach((counts, x) => {
    const usedL = sums[x].map(() => 0), usedR = sums[x + 1].map(() => 0), x0 = xs[x] + bar, x1 = xs[x + 1], mid = (x0 + x1) / 2, joined = new Set((matched && x === 0 ? matched : []).map(([i, j]) => `${i},${j}`));
    counts.forEach((r, i) => r.forEach((w, j) => {
      if (w <= 0) return;
      const h0 = w / (sums[x][i] || 1) * places[x][i][1], h1 = w / (sums[x + 1][j] || 1) * places[x + 1][j][1], a = places[x][i][0] + usedL[i], b = places[x + 1][j][0] + usedR[j];
      usedL[i] += h0; usedR[j] += h1;
      const ribbon = (s, cls) => svg("path", { d: `M${x0},${a.toFixed(2)}C${mid},${a.toFixed(2)} ${mid},${b.toFixed(2)} ${x1},${b.toFixed(2)}L${x1},${(b + s * h1).toFixed(2)}C${mid},${(b + s * h1).toFixed(2)} ${mid},${(a + s * h0).toFixed(2)} ${x0},${(a + s * h0).toFixed(2)}Z`,
        fill: rgb(colours[x][i]), class: cls, "data-count": w, "data-matched": joined.has(`${i},${j}`) ? "yes" : null });
      parts.push(hint(ribbon(1, "ribbon"), [`${columns[x].names[i]} → ${columns[x + 1].names[j]}`, plural(w, "point"), `${percent(w / sums[x][i])} of ${short(columns[x].names[i], 20)}, ${percent(w / sums[x + 1][j])} of ${short(columns[x + 1].names[j], 20)}`]));
      if (marked && marked[x][i][j] > 0) parts.push(hint(ribbon(marked[x][i][j] / w, "ribbon chosen"), [`${plural(marked[x][i][j], "chosen point")}`]));
    }));
  });
  columns.forEach((col, x) => col.names.forEach((name, i) => {
    const [y, h] = places[x][i], end = x === 0, inner = x > 0 && x < last;
    parts.push(hint(svg("rect", { x: xs[x], y, width: bar, height: h, fill: rgb(colours[x][i]) }), [name, plural(sums[x][i], "point")]));
    if (!inner || h >= 10 || col.names.length < 30) parts.push(svg("text", { x: end ? xs[x] - 6 : xs[x] + bar + 6, y: y + h / 2 + 4, "text-anchor": end ? "end" : "start", class: "small" }, short(name, inner ? 10 : phone ? 8 : 15), inner ? null : svg("tspan", { class: "muted" }, ` ${whole(sums[x][i])}`)));
  }));
  fill(box, el("div", { class: "ends" }, columns.map((col) => el("strong", { title: D.names[col.member] }, short(starred(col.member), Math.floor(90 / columns.length))))),
    svg("svg", { width, height, viewBox: `0 -4 ${width} ${height + 4}`, role: "img", "aria-label": `Flow of points between the clusters of ${columns.map((c) => D.names[c.member]).join(", ")}` }, parts),
    saver("flow", () => box.querySelector("svg"), () => [["from", "cluster", "to", "cluster", "points"], ...flows.flatMap((counts, x) => counts.flatMap((r, i) => r.map((w, j) => [D.names[columns[x].member], columns[x].names[i], D.names[columns[x + 1].member], columns[x + 1].names[j], w]).filter((row) => row[4] > 0)))]));
};
const quoted = (s) => /^[\w@%+=:,./-]+$/.test(s) ? s : "'" + s.replaceAll("'", "'\\''") + "'";
const options = lazy(() => { const all = document.createDocumentFragment(); for (const j of range(L)) all.append(el("option", { value: j }, short(starred(j), 60))); return all; });
const drawCompare = () => {
  if (L < 2) return;
  const members = state.compare, [a, b] = members, m = M[0];
  const picks = $("compare-names").querySelectorAll("select");
  if (members.length === 2 && picks.length === 2) picks.forEach((pick, x) => { pick.value = members[x]; });
  else fill($("compare-names"), members.map((i, x) => {
    const pick = el("select", { "aria-label": `Clustering ${x + 1}`, onchange: (e) => { const next = [...state.compare]; next[x] = Number(e.target.value); choose(next, true); } }, options().cloneNode(true));
    pick.value = i;
    return el("span", { class: "pick" }, pick, members.length > 2 ? button("×", () => choose(state.compare.filter((_, y) => y !== x), true), { "aria-label": `Remove ${D.names[i]}` }) : null);
  }), members.length < 5 && L > members.length && labels ? button("+ add", () => choose([...state.compare, D.own.find((i) => !state.compare.includes(i)) ?? 0], true), { "aria-label": "Add a clustering" }) : null,
  members.length === 2 ? button("⇄", () => choose([...state.compare].reverse(), true), { "aria-label": "Swap the two" }) : null);
  const clear = (...nodes) => { fill($("flow"), ...nodes); fill($("pair-table")); fill($("pair-worst")); };
  const twice = new Set(members).size < members.length;
  const v = twice || members.length > 2 ? null : pairView(a, b), apart = M.every((x) => Number.isNaN(raw(x, a, b)));
  fill($("pair-said"), twice ? el("p", { class: "muted" }, "Choose different clusterings.") : members.length > 2 ? el("p", {}, `${members.length} clusterings. Agreement of neighbours: ${members.slice(1).map((j, x) => fmt(value(m, members[x], j))).join(", ")}.`)
    : [el("p", {}, el("strong", {}, starred(a)), ` (${plural(D.ks[a], "cluster")}) and `, el("strong", {}, starred(b)), ` (${plural(D.ks[b], "cluster")})`, m.adjusted && isNumber(value(m, a, b)) ? ` agree ${inWords("reading", value(m, a, b))}: ${fmt(value(m, a, b))}.` : ".",
      v ? ` ${(100 * v.agreed).toFixed(1)}% of the points are in clusters that match one to one${v.exact ? "" : " (matched greedily, because there are many clusters)"}.` : "")]);
  const named = $("pair-measures").querySelector("div");
  $("pair-measures").hidden = twice || members.length > 2;
  if (!$("pair-measures").hidden) fill(named, table(["measure", "value", "better", "range", ...(M.some((x) => x.selfs) ? ["self-scores"] : [])], M.map((x) => [x.plain, fmt(raw(x, a, b), 4), arrow(x), x.span, ...(M.some((y) => y.selfs) ? [x.selfs ? `${fmt(x.selfs[a], 4)} and ${fmt(x.selfs[b], 4)}` : "1"] : [])]), "Measures of the pair"));
  if (twice) return clear();
  if (members.length > 2) {
    const { columns, colours } = chainView(members), pairs = columns.slice(1).map((col, x) => countsBetween(columns[x], col)), chosen = state.selected && columns.slice(1).map((col, x) => countsBetween(columns[x], col, state.selected));
    clear();
    return drawFlow($("flow"), columns, colours, pairs, chosen);
  }
  if (!v && apart) return clear(el("p", { class: "muted" }, "No point has a label in both."));
  if (!v) {
    const command = D.command && !D.soft[a] && !D.soft[b]; // which reads columns of labels
    return clear(el("p", { class: "muted" }, `${said("too_large")}. To see this pair${command ? "" : ", compare the two"}:`),
      el("pre", { tabindex: "0" }, command ? `${D.command[0]} ${quoted(D.names[a])} ${quoted(D.names[b])} ${D.command[1]}` : `cg.compare(clusterings[${JSON.stringify(D.names[a])}], clusterings[${JSON.stringify(D.names[b])}], ${D.arguments})`));
  }
  const columns = [a, b].map((member, x) => ({ member, names: v.names[x], nodes: v.nodes && v.nodes[x] })), grey = v.rest.map((x) => new Set(x));
  const left = v.names[0].map((_, i) => grey[0].has(i) ? GREY : clusterColour(i)), partner = new Map(v.matched.map(([i, j]) => [j, i]));
  drawFlow($("flow"), columns, [left, v.names[1].map((_, j) => partner.has(j) ? left[partner.get(j)] : GREY)], [v.counts], state.selected && v.nodes ? [countsBetween(columns[0], columns[1], state.selected)] : null, v.matched);
  drawPairTable(v, a, b);
};
const drawPairTable = (v, a, b) => {
  const matched = new Set(v.matched.map(([i, j]) => `${i},${j}`)), rs = v.counts.map((r) => r.reduce((x, y) => x + y, 0)), most = 40, rows = v.names[0].slice(0, most), cols = v.names[1].slice(0, most);
  const body = rows.map((name, i) => el("tr", {}, el("th", { scope: "row", title: name }, short(name, 18)), cols.map((_, j) => {
    const w = v.counts[i][j], share = rs[i] ? w / rs[i] : 0;
    return el("td", { class: matched.has(`${i},${j}`) ? "match" : null, style: w > 0 ? `--share:${(share * 36).toFixed(0)}%` : null }, w > 0 ? whole(w) : el("span", { class: "muted" }, "·"));
  }), el("td", { class: "sum" }, whole(rs[i]))));
  fill($("pair-table"), el("h3", {}, "Points in common"), el("p", { class: "muted" }, `Rows: ${short(D.names[a], 40)}; columns: ${short(D.names[b], 40)}. Matched clusters are outlined; shading is the share of the row.` + (v.names[0].length > most || v.names[1].length > most ? ` The first ${most} of each; all are in the CSV.` : "")),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Matched contingency table" }, el("table", { class: "cells" }, el("thead", {}, el("tr", {}, el("td", {}), cols.map((c) => el("th", { scope: "col", title: c }, short(c, 10))), el("th", { scope: "col" }, "all"))), el("tbody", {}, body))),
    saver("contingency", null, () => [[`${D.names[a]} \\ ${D.names[b]}`, ...v.names[1]], ...v.names[0].map((x, i) => [x, ...v.counts[i]])]));
  fill($("pair-worst"), el("h3", {}, "The clusters that match worst"), table(["cluster", "of", "points", "most like", "overlap"],
    v.worst.map((x) => [short(x[0], 30), short(D.names[x[1] ? b : a], 30), whole(x[2]), short(x[3], 30), percent(x[4])]), "Clusters that match worst"));
};
const panel = $("panel"), body = $("compare-body");
let opener = null;
const dock = () => { // the same content, in the page or in the panel
  const into = state.open ? $("panel-room") : $("compare-room");
  if (body.parentElement !== into) into.append(body);
  panel.hidden = !state.open;
};
const choose = (members, stay) => { // shows a comparison; opens the panel unless the section itself was used
  const inside = stay && !state.open;
  if (!state.open && !inside) opener = document.activeElement;
  state.compare = members; cursor = null;
  if (!inside) state.open = true;
  hideTip(); dock(); remember(); drawCompare(); drawMatrix();
  if (!stay) { panel.scrollTop = 0; $("panel-close").focus({ preventScroll: true }); }
  $("heat-said").textContent = `Chosen: ${members.map((i) => D.names[i]).join(" and ")}.`;
};
const closePanel = () => {
  state.open = false; dock(); remember(); drawCompare();
  if (opener && opener.isConnected) opener.focus({ preventScroll: true });
};
$("panel-close").addEventListener("click", closePanel);
document.addEventListener("keydown", (e) => { if (e.key === "Escape") { hideTip(); if (state.open) closePanel(); } });
