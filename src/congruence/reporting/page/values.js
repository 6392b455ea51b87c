// --- values of pairs, and labels -----------------------------------------------------------------------------------
const M = D.measures.map((m) => ({ ...m, q: lazy(() => decoded(m.q)), order: lazy(() => decoded(m.order)), branches: lazy(() => decoded(m.branches)),
  place: m.place === null ? null : lazy(() => decoded(m.place)) }));
const raw = (m, i, j) => { if (i === j) return NaN; const q = m.q()[i < j ? i * L - i * (i + 1) / 2 + (j - i - 1) : j * L - j * (j + 1) / 2 + (i - j - 1)]; return q === 65535 ? NaN : m.min + q / 65534 * (m.max - m.min); };
const isRelative = (m) => m.isRelative;
for (const m of M) m.isRelative = m.better === "higher" && m.selfs !== null && m.selfs.every((x) => x > 0);
const value = (m, i, j) => { // relative to the self-scores
  const v = raw(m, i, j);
  return isRelative(m) ? Math.min(v / Math.sqrt(m.selfs[i] * m.selfs[j]), 1) : v;
};
const domain = (m) => m.better === "higher" ? [Math.min(m.min, 0), Math.max(m.max, isNumber(m.range_high) ? m.range_high : m.max)] : [0, m.max || 1];
for (const m of M) m.domain = domain(m);
const shade = (m, v) => { const [a, b] = m.domain, t = (v - a) / ((b - a) || 1); return m.better === "higher" ? t : 1 - t; };
const arrow = (m) => m.better === "higher" ? "higher is better" : "lower is better";
const starred = (i) => (i === D.reference ? "★ " : "") + D.names[i];
const clusterName = (i, c) => { const x = D.clusters[i]; return Array.isArray(x) ? x[c] : String(x.first + c); };
const labels = D.labels && D.labels.map((x) => lazy(() => decoded(x)));
const hard = D.labels && D.labels.map((_, i) => lazy(() => { // the cluster of each point; of soft ones the largest membership
  const A = labels[i](), k = D.ks[i];
  if (!D.soft[i]) return A;
  const out = new Uint16Array(D.n);
  for (let p = 0; p < D.n; p++) { let best = 0; for (let j = 1; j < k; j++) if (A[p * k + j] > A[p * k + best]) best = j; out[p] = best; }
  return out;
}));
const cellsBetween = (a, b) => D.soft[a] || D.soft[b] ? softContingency(labels[a](), D.ks[a], D.soft[a], labels[b](), D.ks[b], D.soft[b], D.n)
  : contingency(labels[a](), D.ks[a], labels[b](), D.ks[b]);
const pointName = (p) => D.points.ids ? D.points.ids[p] : `row ${(p + 1).toLocaleString("en")}`;
