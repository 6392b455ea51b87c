// --- 3. one pair ------------------------------------------------------------------------------------------------
const clusterName = (i, c) => { const x = D.clusters[i]; return Array.isArray(x) ? x[c] : String(x.first + c); };
const labels = D.labels && D.labels.map((x) => lazy(() => decoded(x)));
const contingency = (a, b) => {
  const A = labels[a](), B = labels[b](), ka = D.ks[a], kb = D.ks[b], softA = D.soft[a], softB = D.soft[b];
  const dense = ka * kb <= 4e6 ? new Float64Array(ka * kb) : null, sparse = new Map();
  const add = (i, j, w) => { if (dense) dense[i * kb + j] += w; else sparse.set(i * kb + j, (sparse.get(i * kb + j) || 0) + w); };
  for (let p = 0; p < D.n; p++) {
    if (!softA && !softB) { if (A[p] < ka && B[p] < kb) add(A[p], B[p], 1); continue; }
    for (let i = 0; i < (softA ? ka : 1); i++) {
      const x = softA ? A[p * ka + i] / 65535 : 1, r = softA ? i : A[p];
      if (x === 0 || r >= ka) continue;
      for (let j = 0; j < (softB ? kb : 1); j++) {
        const y = softB ? B[p * kb + j] / 65535 : 1, s = softB ? j : B[p];
        if (y !== 0 && s < kb) add(r, s, x * y);
      }
    }
  }
  const cells = [];
  if (dense) { for (let x = 0; x < dense.length; x++) if (dense[x] > 0) cells.push([Math.floor(x / kb), x % kb, dense[x]]); }
  else for (const [x, w] of sparse) cells.push([Math.floor(x / kb), x % kb, w]);
  return { ka, kb, cells };
};
const matching = (ka, kb, cells) => { // partner of each row: the assignment with most points in common; greedy where that is too large
  const partner = new Int32Array(ka).fill(-1);
  if (Math.max(ka, kb) > 400) {
    const taken = new Set();
    for (const [i, j] of [...cells].sort((x, y) => y[2] - x[2])) if (partner[i] < 0 && !taken.has(j)) { partner[i] = j; taken.add(j); }
    return { partner, exact: false };
  }
  const size = Math.max(ka, kb), cost = Array.from({ length: size + 1 }, () => new Float64Array(size + 1));
  for (const [i, j, w] of cells) cost[i + 1][j + 1] = -w;
  const u = new Float64Array(size + 1), v = new Float64Array(size + 1), p = new Int32Array(size + 1), way = new Int32Array(size + 1);
  for (let i = 1; i <= size; i++) {
    p[0] = i; let j0 = 0;
    const low = new Float64Array(size + 1).fill(Infinity), used = new Uint8Array(size + 1);
    do {
      used[j0] = 1; let i0 = p[j0], delta = Infinity, j1 = 0;
      for (let j = 1; j <= size; j++) if (!used[j]) {
        const cur = cost[i0][j] - u[i0] - v[j];
        if (cur < low[j]) { low[j] = cur; way[j] = j0; }
        if (low[j] < delta) { delta = low[j]; j1 = j; }
      }
      for (let j = 0; j <= size; j++) if (used[j]) { u[p[j]] += delta; v[j] -= delta; } else low[j] -= delta;
      j0 = j1;
    } while (p[j0] !== 0);
    do { const j1 = way[j0]; p[j0] = p[j1]; j0 = j1; } while (j0);
  }
  for (let j = 1; j <= size; j++) if (p[j] && p[j] <= ka && j <= kb && cost[p[j]][j] < 0) partner[p[j] - 1] = j - 1;
  return { partner, exact: true };
};
const MOST = 24;
const viewOf = (a, b) => { // as flow_of and worst_matches do before the page is made
  if (!labels) {
    const t = D.tables.find((x) => (x.a === a && x.b === b) || (x.a === b && x.b === a));
    if (!t) return null;
    const flat = decoded(t.counts), w = t.columns.length;
    const counts = t.rows.map((_, i) => Array.from(flat.subarray(i * w, (i + 1) * w)));
    const v = { rows: t.rows, columns: t.columns, counts, matched: t.matched, agreed: t.agreed, worst: t.worst, exact: true, ka: t.n_rows, kb: t.n_columns };
    if (t.a === a) return v;
    return { rows: v.columns, columns: v.rows, counts: v.columns.map((_, j) => v.counts.map((r) => r[j])), matched: v.matched.map(([i, j]) => [j, i]),
      agreed: v.agreed, worst: v.worst.map((x) => [x[0], 1 - x[1], x[2], x[3], x[4]]), exact: true, ka: v.kb, kb: v.ka };
  }
  const { ka, kb, cells } = contingency(a, b), rs = new Float64Array(ka), cs = new Float64Array(kb);
  let n = 0;
  for (const [i, j, w] of cells) { rs[i] += w; cs[j] += w; n += w; }
  if (n === 0) return null;
  const { partner, exact } = matching(ka, kb, cells);
  const bySize = (s) => Array.from(s.keys()).sort((x, y) => s[y] - s[x] || x - y);
  const rowOrder = bySize(rs), colOrder = bySize(cs), largest = new Set(colOrder.slice(0, MOST));
  const beside = rowOrder.map((i) => partner[i]).filter((j) => j >= 0), rest = new Set(beside);
  const shownRows = rowOrder.slice(0, MOST), shownCols = [...beside, ...colOrder.filter((j) => !rest.has(j))].filter((j) => largest.has(j));
  const placeR = new Int32Array(ka).fill(shownRows.length), placeC = new Int32Array(kb).fill(shownCols.length);
  shownRows.forEach((i, x) => { placeR[i] = x; }); shownCols.forEach((j, x) => { placeC[j] = x; });
  const rows = shownRows.map((i) => clusterName(a, i)), columns = shownCols.map((j) => clusterName(b, j));
  if (ka > rows.length) rows.push(`${ka - shownRows.length} others`);
  if (kb > columns.length) columns.push(`${kb - shownCols.length} others`);
  const counts = rows.map(() => new Array(columns.length).fill(0));
  let agreed = 0;
  const bestA = new Map(), bestB = new Map();
  for (const [i, j, w] of cells) {
    counts[placeR[i]][placeC[j]] += w;
    if (partner[i] === j) agreed += w;
    const jac = w / (rs[i] + cs[j] - w);
    if (!bestA.has(i) || bestA.get(i)[1] < jac) bestA.set(i, [j, jac]);
    if (!bestB.has(j) || bestB.get(j)[1] < jac) bestB.set(j, [i, jac]);
  }
  const worst = [...[...bestA].map(([i, [j, x]]) => [clusterName(a, i), 0, rs[i], clusterName(b, j), x]), ...[...bestB].map(([j, [i, x]]) => [clusterName(b, j), 1, cs[j], clusterName(a, i), x])]
    .sort((x, y) => x[4] - y[4] || y[2] - x[2]).slice(0, 8);
  const matched = shownRows.map((i, x) => [x, partner[i] >= 0 && largest.has(partner[i]) ? placeC[partner[i]] : -1]).filter((p) => p[1] >= 0);
  return { rows, columns, counts, matched, agreed: agreed / n, worst, exact, ka, kb };
};
const drawFlow = (v, a, b) => {
  const box = $("flow"), width = Math.min(box.clientWidth || 700, 900), phone = width < 520;
  const nodes = Math.max(v.rows.length, v.columns.length), gap = nodes > 12 ? 3 : 6, height = Math.max(240, Math.min(nodes * 26, 660));
  const rs = v.counts.map((r) => r.reduce((x, y) => x + y, 0)), cs = v.columns.map((_, j) => v.counts.reduce((s, r) => s + r[j], 0)), n = rs.reduce((x, y) => x + y, 0) || 1;
  const room = (many) => height - gap * (many - 1), label = phone ? 78 : 150, x0 = label, x1 = width - label, bar = 10;
  const place = (sums) => { let y = 0; return sums.map((s) => { const h = Math.max(s / n * room(sums.length), 1); const at = [y, h]; y += h + gap; return at; }); };
  const left = place(rs), right = place(cs), usedL = rs.map(() => 0), usedR = cs.map(() => 0);
  const partner = new Map(v.matched.map(([i, j]) => [j, i])), parts = [];
  const colour = (i) => i < v.rows.length && !(i === v.rows.length - 1 && v.ka > v.rows.length) ? clusterColour(i) : GREY;
  const hover = (node, lines) => { node.addEventListener("mousemove", (e) => showTip(e.clientX, e.clientY, lines)); node.addEventListener("mouseleave", hideTip); return node; };
  const mid = (x0 + x1) / 2;
  v.counts.forEach((r, i) => r.forEach((w, j) => {
    if (w <= 0) return;
    const h0 = w / (rs[i] || 1) * left[i][1], h1 = w / (cs[j] || 1) * right[j][1], a0 = left[i][0] + usedL[i], b0 = right[j][0] + usedR[j];
    usedL[i] += h0; usedR[j] += h1;
    const d = `M${x0 + bar},${a0.toFixed(2)}C${mid},${a0.toFixed(2)} ${mid},${b0.toFixed(2)} ${x1 - bar},${b0.toFixed(2)}L${x1 - bar},${(b0 + h1).toFixed(2)}C${mid},${(b0 + h1).toFixed(2)} ${mid},${(a0 + h0).toFixed(2)} ${x0 + bar},${(a0 + h0).toFixed(2)}Z`;
    parts.push(hover(svg("path", { d, fill: rgb(colour(i)), class: "ribbon" }), [`${v.rows[i]} → ${v.columns[j]}`, `${whole(w)} points`,
      `${(100 * w / rs[i]).toFixed(1)}% of ${short(v.rows[i], 20)}, ${(100 * w / cs[j]).toFixed(1)}% of ${short(v.columns[j], 20)}`]));
  }));
  const node = (x, [y, h], c, name, sum, end) => [hover(svg("rect", { x, y, width: bar, height: h, fill: rgb(c) }), [name, `${whole(sum)} points`]),
    h + gap >= 9 ? svg("text", { x: end ? x - 6 : x + bar + 6, y: y + h / 2 + 4, "text-anchor": end ? "end" : "start", class: "small" },
      short(name, phone ? 7 : 14), svg("tspan", { class: "muted" }, ` ${whole(sum)}`)) : null];
  v.rows.forEach((name, i) => parts.push(...node(x0, left[i], colour(i), name, rs[i], true)));
  v.columns.forEach((name, j) => parts.push(...node(x1 - bar, right[j], partner.has(j) ? colour(partner.get(j)) : GREY, name, cs[j], false)));
  fill(box, el("div", { class: "ends" }, el("strong", {}, starred(a)), el("strong", {}, starred(b))),
    svg("svg", { width, height: height + 4, viewBox: `0 -2 ${width} ${height + 4}`, role: "img", "aria-label": `Flow of points from the clusters of ${D.names[a]} to those of ${D.names[b]}` }, parts.filter(Boolean)));
};
const drawPair = () => {
  const [a, b] = state.pair, v = a === b ? null : viewOf(a, b), apart = M.every((m) => Number.isNaN(value(m, a, b)));
  $("pair-a").value = a; $("pair-b").value = b;
  const rank = D.against && D.against.rows.find((r) => (a === D.reference && r.member === b) || (b === D.reference && r.member === a));
  const said = a === b ? [el("p", { class: "muted" }, "This is one clustering twice. Choose two.")] : [
    el("p", {}, el("strong", {}, starred(a)), ` (${D.ks[a]} clusters) and `, el("strong", {}, starred(b)), ` (${D.ks[b]} clusters)`,
      v ? `: ${(100 * v.agreed).toFixed(1)}% of the points are in clusters that were matched one to one${v.exact ? "" : " (matched one after another, because there are so many)"}.` : "."),
    table(["measure", "value", "", "range", "what to know"], M.map((m) => [m.key, fmt(value(m, a, b)), arrow(m), m.span, [m.title, m.caution ? ` Caution: ${m.caution}.` : ""].join(".").replace(/\.$/, "")]), { label: "Measures of the pair" }),
    rank && rank.p !== null ? el("p", {}, `Against chance: p = ${pval(rank.p)} by permutation` + (rank.pc === null ? "" : `, ${pval(rank.pc)} corrected for the number of clusterings`) + ` (${M[0].key}` +
      (rank.interval ? `, 95% interval ${fmt(rank.interval[0])} to ${fmt(rank.interval[1])}).` : ").")) : null];
  fill($("pair-said"), said);
  if (a !== b && !v && apart) {
    fill($("flow"), el("p", { class: "muted" }, "No point has a label in both."));
    fill($("pair-table")); fill($("pair-worst")); $("pair-csv").hidden = true;
    return;
  }
  if (a !== b && !v) {
    const command = D.command && !D.soft[a] && !D.soft[b]; // which reads columns of labels
    fill($("flow"), el("p", { class: "muted" }, command ? "The labels are too large for this page. To see this pair:" : "The labels are too large for this page. To see this pair, compare the two:"),
      el("pre", {}, command ? `${D.command[0]} ${quoted(D.names[a])} ${quoted(D.names[b])} ${D.command[1]}` : `cg.compare(clusterings[${JSON.stringify(D.names[a])}], clusterings[${JSON.stringify(D.names[b])}], ${D.arguments})`));
    fill($("pair-table")); fill($("pair-worst")); $("pair-csv").hidden = true;
    return;
  }
  $("pair-csv").hidden = !v;
  if (!v) { fill($("flow")); fill($("pair-table")); fill($("pair-worst")); return; }
  drawFlow(v, a, b);
  const matched = new Set(v.matched.map(([i, j]) => `${i},${j}`)), rs = v.counts.map((r) => r.reduce((x, y) => x + y, 0));
  const body = v.rows.map((name, i) => el("tr", {}, el("th", { scope: "row", title: name }, short(name, 18)), v.counts[i].map((w, j) => {
    const share = rs[i] ? w / rs[i] : 0;
    return el("td", { class: matched.has(`${i},${j}`) ? "match" : null, style: w > 0 ? `--share:${(share * 62).toFixed(0)}%` : null }, w > 0 ? whole(w) : el("span", { class: "muted" }, "·"));
  }), el("td", { class: "sum" }, whole(rs[i]))));
  fill($("pair-table"), el("p", { class: "muted" }, `Points in common: rows ${short(D.names[a], 40)}, columns ${short(D.names[b], 40)}; matched clusters are outlined, shading is the share of the row` +
      (v.ka > MOST || v.kb > MOST ? `; the ${MOST} largest clusters and the others together.` : ".")),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Matched contingency table" }, el("table", { class: "cells" }, el("thead", {}, el("tr", {}, el("td", {}), v.columns.map((c) => el("th", { scope: "col", title: c }, short(c, 10))), el("th", { scope: "col" }, "all"))), el("tbody", {}, body))));
  fill($("pair-worst"), el("h3", {}, "The clusters that match worst"), table(["cluster", "of", "points", "most like", "Jaccard"],
    v.worst.map((x) => [short(x[0], 30), short(D.names[x[1] ? b : a], 30), whole(x[2]), short(x[3], 30), x[4].toFixed(3)]), { label: "Clusters that match worst" }));
};
const quoted = (s) => /^[\w@%+=:,./-]+$/.test(s) ? s : "'" + s.replaceAll("'", "'\\''") + "'";
const choose = (a, b) => {
  state.pair = [a, b]; state.cursor = null;
  drawHeat(); drawPair();
  $("heat-said").textContent = a === b ? "" : `Chosen: ${D.names[a]} and ${D.names[b]}, ${M[state.measure].key} ${fmt(value(M[state.measure], a, b))}.`;
};
