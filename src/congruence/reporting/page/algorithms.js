// --- algorithms: the same as in Python, on label vectors; tests compare them ----------------------------------------
const contingency = (A, ka, B, kb) => { // cells [i, j, count] of two label vectors; k and above: no label
  const dense = ka * kb <= 4e6 ? new Float64Array(ka * kb) : null, sparse = new Map(), n = A.length;
  for (let p = 0; p < n; p++) {
    if (A[p] >= ka || B[p] >= kb) continue;
    const x = A[p] * kb + B[p];
    if (dense) dense[x] += 1; else sparse.set(x, (sparse.get(x) || 0) + 1);
  }
  return cellsOf(dense, sparse, kb);
};
const cellsOf = (dense, sparse, kb) => {
  const cells = [];
  if (dense) { for (let x = 0; x < dense.length; x++) if (dense[x] > 0) cells.push([Math.floor(x / kb), x % kb, dense[x]]); }
  else { for (const [x, w] of sparse) cells.push([Math.floor(x / kb), x % kb, w]); cells.sort((p, q) => p[0] - q[0] || p[1] - q[1]); }
  return cells;
};
const softContingency = (A, ka, softA, B, kb, softB, n) => { // memberships are in steps of 1/65535
  const dense = new Float64Array(ka * kb);
  for (let p = 0; p < n; p++) for (let i = 0; i < (softA ? ka : 1); i++) {
    const x = softA ? A[p * ka + i] / 65535 : 1, r = softA ? i : A[p];
    if (x === 0 || r >= ka) continue;
    for (let j = 0; j < (softB ? kb : 1); j++) {
      const y = softB ? B[p * kb + j] / 65535 : 1, s = softB ? j : B[p];
      if (y !== 0 && s < kb) dense[r * kb + s] += x * y;
    }
  }
  return cellsOf(dense, null, kb);
};
const margins = (ka, kb, cells) => {
  const rows = new Float64Array(ka), columns = new Float64Array(kb);
  for (const [i, j, w] of cells) { rows[i] += w; columns[j] += w; }
  return [rows, columns];
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
      used[j0] = 1;
      const i0 = p[j0]; let delta = Infinity, j1 = 0;
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
const ariOf = (cells) => { // cells may repeat; NaN without points
  const both = new Map(), rows = new Map(), columns = new Map();
  let n = 0, wide = 0;
  for (const c of cells) wide = Math.max(wide, c[1] + 1);
  for (const [i, j, w] of cells) {
    both.set(i * wide + j, (both.get(i * wide + j) || 0) + w);
    rows.set(i, (rows.get(i) || 0) + w); columns.set(j, (columns.get(j) || 0) + w); n += w;
  }
  if (n === 0) return NaN;
  const pairs = (m) => { let s = 0; for (const x of m.values()) s += x * (x - 1); return s; };
  const together = pairs(both), a = pairs(rows), b = pairs(columns), expected = n > 1 ? a * b / (n * (n - 1)) : 0;
  const most = (a + b) / 2 - expected;
  return most === 0 ? (together === a && together === b ? 1 : 0) : (together - expected) / most;
};
const votesOf = (base, k, members, oneToOne) => { // as votes_of in Python; members: [labels, k, counts]
  const n = base.length, wide = n * (k + 2) <= D.limits.cast, cast = wide ? new Uint16Array(n * k) : null;
  const agree = new Float64Array(n), seen = new Float64Array(n), stability = new Float64Array(k), weight = new Float64Array(k);
  const agreement = members.map(([codes, own, counts]) => {
    const cells = contingency(base, k, codes, own), to = new Int32Array(own + 1).fill(k), best = new Float64Array(own);
    if (oneToOne) matching(k, own, cells).partner.forEach((j, i) => { if (j >= 0) to[j] = i; });
    else for (const [i, j, w] of cells) if (w > best[j]) { best[j] = w; to[j] = i; } // cells come row by row: the first of equals
    const found = ariOf(oneToOne ? cells : cells.map(([i, j, w]) => [i, to[j], w]));
    if (!counts) return found;
    for (let p = 0; p < n; p++) if (codes[p] < own && base[p] < k) {
      const vote = to[codes[p]];
      seen[p] += 1;
      if (vote === base[p]) agree[p] += 1;
      if (wide && vote < k) cast[p * k + vote] += 1;
    }
    const sizes = new Float64Array(k), votes = new Float64Array(k + 1), common = new Float64Array(k);
    for (const [i, j, w] of cells) { sizes[i] += w; votes[to[j]] += w; if (to[j] === i) common[i] += w; }
    for (let i = 0; i < k; i++) if (sizes[i] > 0) { stability[i] += common[i] / (sizes[i] + votes[i] - common[i]); weight[i] += 1; }
    return found;
  });
  const elsewhere = new Uint32Array(n).fill(k), plurality = Uint32Array.from(base);
  if (wide) for (let p = 0; p < n; p++) {
    let most = 0, top = base[p] < k ? cast[p * k + base[p]] : 0;
    for (let c = 0; c < k; c++) {
      const x = cast[p * k + c];
      if (c !== base[p] && x > most) { most = x; elsewhere[p] = c; }
      if (x > top) { top = x; plurality[p] = c; }
    }
  }
  return { placed: Float64Array.from(agree, (x, p) => seen[p] ? x / seen[p] : NaN), elsewhere, plurality, agreement, stability: Array.from(stability, (x, i) => weight[i] ? x / weight[i] : NaN) };
};
const shuffled = (n, stream) => { // as shuffled in Python, with the same order
  const key = Uint32Array.from(range(Math.min(n, D.limits.shuffled)), (i) => {
    let x = (Math.imul(i, 0x9E3779B1) + Math.imul(stream + 1, 0x85EBCA6B)) >>> 0;
    for (const [shift, factor] of [[16, 0x7FEB352D], [15, 0x846CA68B], [16, 1]]) x = Math.imul(x ^ (x >>> shift), factor) >>> 0;
    return x;
  });
  return n <= D.limits.shuffled ? range(n).sort((p, q) => key[p] - key[q] || p - q) : Array.from(key, (x) => x % n);
};
const chanceOf = (base, k, members, oneToOne) => { // as chance_of in Python: the same figures for shuffled labels; members: [labels, k]
  const widest = Math.max(1, ...members.map((m) => m[1])), lim = D.limits;
  const rounds = Math.min(Math.max(Math.floor(lim.shuffles / (Math.max(members.length, 1) * (1 + Math.floor(widest / 50)))), lim.least), lim.most);
  const shares = [], stability = new Array(k).fill(0);
  for (let turn = 0; turn < rounds; turn++) {
    const drawn = (labels, i) => { const at = shuffled(base.length, turn * 4096 + i); return at.map((p) => labels[p]); };
    const votes = votesOf(drawn(base, 0), k, members.map(([labels, own], i) => [drawn(labels, i + 1), own, true]), oneToOne);
    const known = votes.placed.filter((x) => !Number.isNaN(x));
    shares.push(known.length ? known.filter((x) => x >= lim.consistent - 1e-12).length / known.length : NaN);
    votes.stability.forEach((x, c) => { stability[c] += (Number.isNaN(x) ? 0 : x) / rounds; });
  }
  return { consistent: shares.reduce((x, y) => x + y, 0) / rounds, highest: Math.max(...shares), stability };
};
const flowOf = (ka, kb, cells, most) => { // as flow_of in Python: matched clusters opposite one another, the smaller pairs together
  const { partner, exact } = matching(ka, kb, cells), [rs, cs] = margins(ka, kb, cells);
  const pairs = range(ka).filter((i) => partner[i] >= 0).sort((x, y) => rs[y] - rs[x] || x - y).map((i) => [i, partner[i]]);
  const shown = pairs.length > most + 1 ? most : pairs.length;
  const sides = [rs, cs].map((sums, side) => {
    const nodes = pairs.slice(0, shown).map((p) => [p[side]]), taken = new Set(pairs.map((p) => p[side]));
    if (shown < pairs.length) nodes.push(pairs.slice(shown).map((p) => p[side]));
    const alone = Array.from(sums.keys()).filter((i) => !taken.has(i) && sums[i] > 0).sort((x, y) => sums[y] - sums[x] || x - y), room = Math.max(most - nodes.length, 0);
    if (alone.length > room + 1) nodes.push(...alone.slice(0, room).map((i) => [i]), alone.slice(room));
    else nodes.push(...alone.map((i) => [i]));
    return { nodes, paired: shown < pairs.length ? shown + 1 : shown };
  });
  let agreed = 0, n = 0;
  for (const [i, j, w] of cells) { n += w; if (partner[i] === j) agreed += w; }
  return { rows: sides[0].nodes, columns: sides[1].nodes, paired: sides[0].paired, agreed: n ? agreed / n : NaN, partner, exact, rs, cs };
};
window.congruence = { contingency, matching, ariOf, votesOf, chanceOf, flowOf };
