// --- downloads --------------------------------------------------------------------------------------------------
const files = {
  matrix: () => { const m = M[state.measure], o = Array.from(m.order()); download(`${m.key}.csv`, [["clustering", ...o.map((i) => D.names[i])], ...o.map((i) => [D.names[i], ...o.map((j) => i === j ? "" : value(m, i, j).toPrecision(6))])]); },
  pairs: () => { const rows = [["a", "b", ...M.map((m) => m.key)]]; for (let i = 0; i < L; i++) for (let j = i + 1; j < L; j++) rows.push([D.names[i], D.names[j], ...M.map((m) => Number(value(m, i, j).toPrecision(6)))]); download("pairs.csv", rows); },
  members: () => download("clusterings.csv", [["clustering", "clusters", "points", "mean " + M[0].key, "group", "same as"], ...D.names.map((x, i) => [x, D.ks[i], D.assigned[i], D.means[i], i === D.reference ? "reference" : D.group[i], D.same[i] === null ? "" : D.names[D.same[i]]])]),
  pair: () => { const v = viewOf(...state.pair); download("contingency.csv", [[`${D.names[state.pair[0]]} \\ ${D.names[state.pair[1]]}`, ...v.columns], ...v.rows.map((x, i) => [x, ...v.counts[i]])]); },
  against: () => download("reference.csv", [["clustering", "clusters", ...M.map((m) => m.key), "low", "high", "p", "p corrected", "note"], ...D.against.rows.map((r) => [D.names[r.member], D.ks[r.member], ...r.values, ...(r.interval || ["", ""]), r.p, r.pc, r.note])]),
  points: () => { const B = base(); download("points.csv", [["row", ...(P.ids ? ["id"] : []), "agreement", ...(B ? ["consensus"] : [])], ...Array.from({ length: D.n }, (_, i) => [i + 1, ...(P.ids ? [P.ids[i]] : []), score(i).toFixed(5), ...(B ? [B[i] < D.consensus.k ? B[i] : ""] : [])])]); },
  methods: () => download("consensus.csv", [["method", "clusters", "arimp", "anmi", "objective", "value", "seconds", "left out"], ...T.methods.map((r) => [r.method, r.n_clusters, r.arimp, r.anmi, r.objective, r.value, r.seconds, r.left_out])]),
  choice: () => download("choose-k.csv", [["k", ...T.choice.curves.map((c) => c.name)], ...T.choice.ks.map((k, i) => [k, ...T.choice.curves.map((c) => c.values[i])])]),
};
for (const b of document.querySelectorAll("[data-csv]")) b.addEventListener("click", () => files[b.dataset.csv]());
