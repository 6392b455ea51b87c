"use strict";
// Draws the report from the data in the page. Text from the file reaches the page as text nodes only, never as markup.
(() => {
const D = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const L = D.names.length;

// --- small tools ---------------------------------------------------------------------------------------------
const KINDS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array };
const decoded = (x) => {
  const text = atob(x.b), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new KINDS[x.t](bytes.buffer);
};
const lazy = (make) => { let value; return () => value === undefined ? (value = make()) : value; };
const put = (node, attrs, children) => {
  for (const [k, v] of Object.entries(attrs || {})) {
    if (k.startsWith("on")) node.addEventListener(k.slice(2), v);
    else if (v !== null && v !== undefined && v !== false) node.setAttribute(k, v === true ? "" : v);
  }
  for (const c of children.flat()) if (c !== null && c !== undefined) node.append(c);
  return node;
};
const el = (tag, attrs, ...children) => put(document.createElement(tag), attrs, children);
const svg = (tag, attrs, ...children) => put(document.createElementNS("http://www.w3.org/2000/svg", tag), attrs, children);
const fill = (node, ...children) => node.replaceChildren(...children.flat().filter((c) => c !== null && c !== undefined));
const fmt = (x) => x === null || Number.isNaN(x) ? "undefined" : Math.abs(x) < 1e5 ? x.toFixed(4) : x.toPrecision(5);
const whole = (x) => Math.abs(x - Math.round(x)) < 1e-9 ? Math.round(x).toLocaleString("en") : x.toLocaleString("en", { maximumFractionDigits: 1 });
const short = (s, n) => s.length <= n ? s : s.slice(0, n - 1) + "…";
const pval = (p) => p === null ? "–" : p < 0.0001 ? p.toExponential(1) : String(Number(p.toPrecision(2)));
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const download = (name, rows) => {
  const cell = (x) => { const s = x === null || x === undefined || Number.isNaN(x) ? "" : String(x); return /[",\n\r]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s; };
  const url = URL.createObjectURL(new Blob([rows.map((r) => r.map(cell).join(",")).join("\n") + "\n"], { type: "text/csv" }));
  const a = el("a", { href: url, download: name });
  document.body.append(a); a.click(); a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
};
const button = (text, act, attrs) => el("button", { type: "button", onclick: act, ...attrs }, text);
const table = (head, rows, attrs) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": (attrs || {}).label || "table" },
  el("table", {}, el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, rows.map((r) => el("tr", {}, r.map((c, j) => j === 0 ? el("th", { scope: "row" }, c) : el("td", {}, c)))))));

// --- colours: viridis for amounts, Okabe and Ito's eight for clusters ------------------------------------------
const VIRIDIS = ["440154", "481f70", "443983", "3b528b", "31688e", "287c8e", "21918c", "20a486", "35b779", "5ec962", "90d743", "c8e020", "fde725"]
  .map((h) => [0, 2, 4].map((i) => parseInt(h.slice(i, i + 2), 16)));
const viridis = (t) => {
  const x = Math.max(0, Math.min(1, t)) * (VIRIDIS.length - 1), i = Math.min(Math.floor(x), VIRIDIS.length - 2), f = x - i;
  return [0, 1, 2].map((c) => Math.round(VIRIDIS[i][c] * (1 - f) + VIRIDIS[i + 1][c] * f));
};
const rgb = (c) => `rgb(${c[0]},${c[1]},${c[2]})`;
const EIGHT = [[0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0], [240, 228, 66], [140, 140, 140]];
const isDark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const clusterColour = (i) => { // further rounds of the eight are lighter, then darker; on a dark page all are lighter
  const base = EIGHT[i % 8], round = Math.floor(i / 8) % 3, light = (isDark() ? 0.25 : 0) + (round === 1 ? 0.4 : 0);
  return base.map((c) => Math.round(round === 2 ? c * 0.6 + 255 * light : c + (255 - c) * light));
};
const GREY = [150, 150, 150];

// --- values of pairs --------------------------------------------------------------------------------------------
const M = D.measures.map((m) => ({ ...m, q: lazy(() => decoded(m.q)), order: lazy(() => decoded(m.order)), branches: lazy(() => decoded(m.branches)),
  place: m.place === null ? null : lazy(() => decoded(m.place)) }));
const upper = (i, j) => { if (i > j) [i, j] = [j, i]; return i * L - i * (i + 1) / 2 + (j - i - 1); };
const value = (m, i, j) => { if (i === j) return NaN; const q = m.q()[upper(i, j)]; return q === 65535 ? NaN : m.min + q / 65534 * (m.max - m.min); };
const domain = (m) => m.better === "higher" ? [Math.min(m.min, 0), Math.max(m.max, Number.isFinite(m.high) ? m.high : m.max)] : [0, m.max || 1];
const shade = (m, v) => { const [a, b] = domain(m), t = (v - a) / ((b - a) || 1); return m.better === "higher" ? t : 1 - t; };
const arrow = (m) => m.better === "higher" ? "↑ higher is better" : "↓ lower is better";
const starred = (i) => (i === D.reference ? "★ " : "") + D.names[i];

const state = { measure: 0, cursor: null, pair: D.first, colour: 0 };
const tip = $("tip");
const showTip = (x, y, lines) => {
  fill(tip, lines.map((t) => el("div", {}, t)));
  tip.hidden = false;
  const w = tip.offsetWidth, h = tip.offsetHeight;
  tip.style.left = Math.max(4, Math.min(window.innerWidth - w - 8, x + 14)) + "px";
  tip.style.top = Math.max(4, y + 18 + h > window.innerHeight ? y - h - 10 : y + 18) + "px";
};
const hideTip = () => { tip.hidden = true; };
const sharp = (canvas, width, height) => {
  const d = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * d); canvas.height = Math.round(height * d);
  canvas.style.width = width + "px"; canvas.style.height = height + "px";
  const c = canvas.getContext("2d");
  c.setTransform(d, 0, 0, d, 0, 0);
  return c;
};
const legend = (node, a, b, paint, words) => {
  const stops = Array.from({ length: 13 }, (_, i) => rgb(paint(i / 12))).join(",");
  fill(node, el("span", {}, a), el("span", { class: "bar", style: `background:linear-gradient(90deg,${stops})` }), el("span", {}, b), el("span", { class: "muted" }, words));
};

// --- 2. all pairs -----------------------------------------------------------------------------------------------
const heat = $("heat");
let grid = null; // where the cells are in the canvas
const drawHeat = () => {
  const m = M[state.measure], order = m.order(), width = Math.min(heat.parentElement.clientWidth, 760);
  const named = L <= 40 && (width * 0.6) / L >= 10, face = "12px system-ui, sans-serif";
  const probe = heat.getContext("2d"); probe.font = face;
  const most = width < 480 ? 14 : 28, labels = Array.from(order, (i) => short(starred(i), most));
  const left = named ? Math.min(Math.max(...labels.map((t) => probe.measureText(t).width)) + 18, width * 0.42) : 12, top = L > 2 ? 84 : 8;
  const size = Math.max((width - left - 2) / L, 0.2), side = size * L;
  const shown = Math.min(side, L <= 12 ? L * 46 : side), step = shown / L;
  const c = sharp(heat, width, top + shown + 4);
  grid = { left, top, step, shown, order };
  c.clearRect(0, 0, width, top + shown + 4);
  const image = new ImageData(L, L), none = css("--none").split(",").map(Number);
  for (let r = 0; r < L; r++) for (let k = 0; k < L; k++) {
    const v = value(m, order[r], order[k]), p = Number.isNaN(v) ? none : viridis(shade(m, v)), at = 4 * (r * L + k);
    image.data[at] = p[0]; image.data[at + 1] = p[1]; image.data[at + 2] = p[2]; image.data[at + 3] = 255;
  }
  const small = document.createElement("canvas"); small.width = small.height = L;
  small.getContext("2d").putImageData(image, 0, 0);
  c.imageSmoothingEnabled = step < 1;
  c.drawImage(small, left, top, shown, shown);
  if (D.groups_count > 1) for (let r = 0; r < L; r++) { // groups of clusterings, as strips
    const g = D.group[order[r]];
    c.fillStyle = g < 0 ? css("--fg") : rgb(clusterColour(g));
    c.fillRect(left - 8, top + r * step, 5, Math.max(step, 0.6));
  }
  if (named) {
    c.font = face; c.textAlign = "right"; c.textBaseline = "middle"; c.fillStyle = css("--fg");
    labels.forEach((t, r) => c.fillText(t, left - 12, top + (r + 0.5) * step, left - 14));
  }
  if (L > 2) {
    const b = m.branches(), high = Math.max(...Array.from({ length: L - 1 }, (_, i) => b[5 * i + 4])) || 1;
    const x = (p) => left + (p + 0.5) * step, y = (h) => top - 6 - h / high * (top - 16);
    c.strokeStyle = css("--muted"); c.lineWidth = L > 150 ? 0.6 : 1; c.beginPath();
    for (let i = 0; i < L - 1; i++) {
      const [p, q, hp, hq, h] = b.subarray(5 * i, 5 * i + 5);
      c.moveTo(x(p), y(hp)); c.lineTo(x(p), y(h)); c.lineTo(x(q), y(h)); c.lineTo(x(q), y(hq));
    }
    c.stroke();
  }
  const marked = state.cursor || (state.pair && [order.indexOf(state.pair[0]), order.indexOf(state.pair[1])]);
  if (marked) {
    const w = Math.max(step, 6);
    for (const [line, colour] of [[4, "#000"], [2, "#fff"]]) {
      c.lineWidth = line; c.strokeStyle = colour;
      c.strokeRect(left + (marked[1] + 0.5) * step - w / 2, top + (marked[0] + 0.5) * step - w / 2, w, w);
    }
  }
  const [a, b] = domain(m);
  legend($("heat-legend"), fmt(a), fmt(b), (t) => viridis(m.better === "higher" ? t : 1 - t), `${m.title}, ${arrow(m)}`);
  $("measure-note").textContent = m.caution ? `Caution: ${m.caution}.` : "";
};
const cellAt = (event) => {
  if (!grid) return null;
  const box = heat.getBoundingClientRect(), k = Math.floor((event.clientX - box.left - grid.left) / grid.step), r = Math.floor((event.clientY - box.top - grid.top) / grid.step);
  return r >= 0 && k >= 0 && r < L && k < L ? [r, k] : null;
};
const words = (i, j) => [starred(i), starred(j), ...(i === j ? ["the same clustering"] : M.map((m) => `${m.key} ${fmt(value(m, i, j))}`))];
heat.addEventListener("mousemove", (e) => {
  const at = cellAt(e);
  if (at) showTip(e.clientX, e.clientY, words(grid.order[at[0]], grid.order[at[1]])); else hideTip();
});
heat.addEventListener("mouseleave", hideTip);
heat.addEventListener("click", (e) => { const at = cellAt(e); if (at) choose(grid.order[at[0]], grid.order[at[1]]); });
heat.addEventListener("keydown", (e) => {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
  const order = M[state.measure].order();
  if (step) {
    const at = state.cursor || [order.indexOf(state.pair[0]), order.indexOf(state.pair[1])];
    state.cursor = [0, 1].map((x) => Math.max(0, Math.min(L - 1, at[x] + step[x])));
    $("heat-said").textContent = words(order[state.cursor[0]], order[state.cursor[1]]).join(", ");
    drawHeat(); e.preventDefault();
  } else if ((e.key === "Enter" || e.key === " ") && state.cursor) {
    choose(order[state.cursor[0]], order[state.cursor[1]]); e.preventDefault();
  }
});
const drawMap = () => {
  const chosen = M[state.measure], m = chosen.place ? chosen : M.find((x) => x.place), box = $("map");
  if (!m) return fill(box, el("p", { class: "muted" }, L < 3 ? "A map needs three clusterings or more." : "None of the measures is a distance, so there is no map."));
  const p = m.place(), w = Math.min(box.clientWidth || 400, 520), h = Math.round(w * 0.82), pad = 26;
  const xs = Array.from({ length: L }, (_, i) => p[2 * i]), ys = Array.from({ length: L }, (_, i) => p[2 * i + 1]);
  const span = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)) || 1;
  const mx = (Math.max(...xs) + Math.min(...xs)) / 2, my = (Math.max(...ys) + Math.min(...ys)) / 2, s = Math.min(w, h) - 2 * pad;
  const at = (i) => [w / 2 + (xs[i] - mx) / span * s, h / 2 - (ys[i] - my) / span * s];
  const dots = [];
  const sequence = Array.from({ length: L }, (_, i) => i).sort((a, b) => (a === D.reference) - (b === D.reference) || (a === D.central) - (b === D.central));
  for (const i of sequence) {
    const [x, y] = at(i), special = i === D.reference || i === D.central;
    const fillColour = i === D.reference ? css("--fg") : rgb(clusterColour(Math.max(D.group[i], 0)));
    const shape = i === D.reference ? svg("path", { d: star(x, y, 9), fill: fillColour })
      : svg("circle", { cx: x, cy: y, r: special ? 7 : L > 150 ? 3.5 : 5, fill: fillColour, "fill-opacity": 0.75, stroke: special ? css("--fg") : css("--bg"), "stroke-width": special ? 2 : 0.7 });
    shape.addEventListener("mousemove", (e) => showTip(e.clientX, e.clientY, [starred(i), `${D.ks[i]} clusters`, i === D.central ? "the most central" : `mean ${M[0].key} ${fmt(D.means[i])}`]));
    shape.addEventListener("mouseleave", hideTip);
    shape.addEventListener("click", () => choose(D.reference === null || i === D.reference ? D.central : D.reference, i));
    dots.push(shape);
    if (L <= 12 || special) dots.push(svg("text", { x: x + 9 > w - 90 ? x - 9 : x + 9, y: y + 4, "text-anchor": x + 9 > w - 90 ? "end" : "start", class: "small" }, short(D.names[i], 22)));
  }
  fill(box, svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `Map of the clusterings by ${m.title}` }, dots),
    el("p", { class: "muted" }, (m === chosen ? "" : `${chosen.key} is not a distance, so the map is by ${m.key}. `) + `Near one another means alike by ${m.title} (classical scaling; the plane shows ${Math.round(m.shown * 100)}% of the squared distances).` +
      (D.groups_count > 1 ? " Colours are the groups of the summary." : "") + (D.reference === null ? "" : " ★ is the reference.")));
};
const star = (x, y, r) => Array.from({ length: 10 }, (_, i) => {
  const a = Math.PI * (i / 5 - 0.5), d = i % 2 ? r * 0.45 : r;
  return `${i ? "L" : "M"}${(x + d * Math.cos(a)).toFixed(1)},${(y + d * Math.sin(a)).toFixed(1)}`;
}).join("") + "Z";

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

// --- 4. the reference -------------------------------------------------------------------------------------------
const drawAgainst = (all) => {
  if (!D.against) return;
  const rows = all ? D.against.rows : D.against.rows.slice(0, 25), m = M[0];
  const known = D.against.rows.flatMap((r) => [r.values[0], ...(r.interval || [])]).filter((x) => x !== null);
  const lo = Math.min(0, ...known), hi = m.better === "higher" && Number.isFinite(m.high) ? m.high : Math.max(...known, 1e-9), W = 180;
  const x = (t) => 6 + (t - lo) / ((hi - lo) || 1) * (W - 12);
  const plot = (r) => {
    if (r.values[0] === null) return "undefined";
    return svg("svg", { width: W, height: 18, viewBox: `0 0 ${W} 18`, role: "img", "aria-label": fmt(r.values[0]) }, svg("line", { x1: 6, x2: W - 6, y1: 9, y2: 9, class: "axis" }),
      lo < 0 ? svg("line", { x1: x(0), x2: x(0), y1: 2, y2: 16, class: "axis" }) : null,
      r.interval ? svg("line", { x1: x(r.interval[0]), x2: x(r.interval[1]), y1: 9, y2: 9, class: "interval" }) : null, svg("circle", { cx: x(r.values[0]), cy: 9, r: 4.5, class: "dot" }));
  };
  const has = { interval: D.against.rows.some((r) => r.interval), p: D.against.rows.some((r) => r.p !== null), note: D.against.rows.some((r) => r.note) };
  const head = ["clustering", "k", m.key, "", ...(has.interval ? ["95% interval"] : []), ...(has.p ? ["p", "corrected"] : []), ...M.slice(1).map((o) => o.key)];
  fill($("against"), table(head, rows.map((r) => [button(short(D.names[r.member], 44), () => { choose(D.reference, r.member); $("pair").scrollIntoView(); }, { class: "link", title: "Look at this pair" }), D.ks[r.member], fmt(r.values[0]), plot(r),
    ...(has.interval ? [r.interval ? `${r.interval[0].toFixed(3)} to ${r.interval[1].toFixed(3)}` : el("span", { class: "muted", title: r.note }, "–")] : []), ...(has.p ? [pval(r.p), pval(r.pc)] : []), ...r.values.slice(1).map(fmt)]), { label: "Agreement with the reference" }),
    rows.length < D.against.rows.length ? button(`Show all ${D.against.rows.length}`, () => drawAgainst(true)) : null);
};

// --- 5. the points ----------------------------------------------------------------------------------------------
const P = D.points && { ...D.points, scores: lazy(() => decoded(D.points.scores)), place: D.points.place && lazy(() => decoded(D.points.place)), drawn: D.points.drawn && lazy(() => decoded(D.points.drawn)) };
const score = (i) => { const q = P.scores()[i]; return q === 65535 ? NaN : q / 65534; };
const pointName = (i) => P.ids ? P.ids[i] : `row ${i + 1}`;
const axes = (w, h, pad, xs, ys, xlabel, ylabel, fx, fy) => [
  ...xs.map((t) => svg("text", { x: fx(t), y: h - pad.bottom + 16, "text-anchor": "middle", class: "small muted" }, String(t))),
  ...ys.map((t) => svg("text", { x: pad.left - 6, y: fy(t) + 4, "text-anchor": "end", class: "small muted" }, typeof t === "number" ? t.toLocaleString("en") : t)),
  svg("line", { x1: pad.left, x2: w - pad.right, y1: h - pad.bottom, y2: h - pad.bottom, class: "axis" }),
  svg("text", { x: (pad.left + w - pad.right) / 2, y: h - 4, "text-anchor": "middle", class: "small" }, xlabel), svg("text", { x: 4, y: 12, class: "small" }, ylabel)];
const drawHistogram = () => {
  if (!P) return;
  const box = $("histogram"), w = Math.min(box.clientWidth || 500, 620), h = 210, pad = { left: 52, right: 8, top: 22, bottom: 34 }, most = Math.max(...P.counts, 1);
  const fx = (t) => pad.left + t * (w - pad.left - pad.right), fy = (c) => h - pad.bottom - c / most * (h - pad.top - pad.bottom), k = P.counts.length;
  fill(box, svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "Histogram of the agreement on each point" },
    axes(w, h, pad, [0, 0.25, 0.5, 0.75, 1], [0, most], "agreement of the members on a point", "points", fx, fy),
    P.counts.map((c, i) => { const r = svg("rect", { x: fx(i / k) + 0.5, width: Math.max(fx(1 / k) - fx(0) - 1, 1), y: fy(c), height: h - pad.bottom - fy(c), fill: rgb(viridis((i + 0.5) / k)) });
      r.addEventListener("mousemove", (e) => showTip(e.clientX, e.clientY, [`${(i / k).toFixed(3)} to ${((i + 1) / k).toFixed(3)}`, `${c.toLocaleString("en")} points`])); r.addEventListener("mouseleave", hideTip); return r; })));
};
const colourings = P && P.place ? [{ name: "agreement of the members (dark: unstable)", kind: "score" },
  ...(D.consensus ? [{ name: `consensus (${D.consensus.method})`, kind: "consensus" }] : []),
  ...(labels ? D.names.map((_, i) => ({ name: starred(i), kind: "member", i })) : [])] : [];
const base = lazy(() => D.consensus ? decoded(D.consensus.labels) : null);
const hardLabels = (i) => { // the cluster of each point; of soft ones the largest membership
  const A = labels[i](), k = D.ks[i];
  if (!D.soft[i]) return A;
  const out = new Uint16Array(D.n);
  for (let p = 0; p < D.n; p++) { let best = 0; for (let j = 1; j < k; j++) if (A[p * k + j] > A[p * k + best]) best = j; out[p] = best; }
  return out;
};
const matchedColours = (A, k) => { // clusters take the colour of the consensus cluster they share most points with
  const B = base();
  if (!B) return Array.from({ length: k }, (_, c) => clusterColour(c));
  const kb = D.consensus.k, cells = new Map();
  for (let p = 0; p < D.n; p++) if (A[p] < k && B[p] < kb) cells.set(A[p] * kb + B[p], (cells.get(A[p] * kb + B[p]) || 0) + 1);
  const { partner } = matching(k, kb, [...cells].map(([x, w]) => [Math.floor(x / kb), x % kb, w]));
  let next = kb;
  return Array.from({ length: k }, (_, c) => clusterColour(partner[c] >= 0 ? partner[c] : next++));
};
let spots = null;
const drawScatter = () => {
  if (!colourings.length) return;
  const canvas = $("scatter"), how = colourings[state.colour], w = Math.min(canvas.parentElement.clientWidth, 760), h = Math.round(Math.min(w * 0.72, 540));
  const c = sharp(canvas, w, h), q = P.place(), shown = P.drawn ? P.drawn() : null, many = q.length / 2, pad = 14;
  c.clearRect(0, 0, w, h);
  let colours = null, A = null, k = 0;
  if (how.kind === "consensus") { A = base(); k = D.consensus.k; colours = Array.from({ length: k }, (_, x) => clusterColour(x)); }
  if (how.kind === "member") { A = hardLabels(how.i); k = D.ks[how.i]; colours = matchedColours(A, k); }
  spots = { xy: new Float32Array(2 * many), shown, A, how };
  const scores = P.scores().subarray(0, D.n);
  let least = 65534; for (const s of scores) if (s < least) least = s;
  const radius = many > 20000 ? 1.1 : many > 3000 ? 1.8 : many > 600 ? 2.6 : 4;
  const sequence = Array.from({ length: many }, (_, i) => i);
  if (how.kind === "score") sequence.sort((x, y) => scores[shown ? shown[y] : y] - scores[shown ? shown[x] : x]); // the unstable on top
  c.globalAlpha = many > 20000 ? 0.6 : 0.85;
  for (const i of sequence) {
    const p = shown ? shown[i] : i, x = pad + q[2 * i] / 65535 * (w - 2 * pad), y = h - pad - q[2 * i + 1] / 65535 * (h - 2 * pad);
    spots.xy[2 * i] = x; spots.xy[2 * i + 1] = y;
    const s = scores[p];
    const colour = how.kind === "score" ? (s === 65535 ? GREY : viridis((s - least) / Math.max(65534 - least, 1))) : A[p] < k ? colours[A[p]] : GREY;
    c.fillStyle = rgb(colour);
    if (radius < 2) c.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
    else { c.beginPath(); c.arc(x, y, radius, 0, 7); c.fill(); }
  }
  c.globalAlpha = 1;
  const key = $("scatter-legend");
  if (how.kind === "score") legend(key, (least / 65534).toFixed(2), "1", viridis, "agreement");
  else fill(key, colours.slice(0, 24).map((x, i) => el("span", { class: "key" }, el("span", { class: "swatch", style: `background:${rgb(x)}` }), how.kind === "member" ? short(clusterName(how.i, i), 16) : String(i))),
    k > 24 ? el("span", { class: "muted" }, `and ${k - 24} more`) : null);
};
if (P && P.place) {
  $("scatter").addEventListener("mousemove", (e) => {
    if (!spots) return;
    const box = $("scatter").getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
    let best = -1, near = 100;
    for (let i = 0; i < spots.xy.length / 2; i++) { const d = (spots.xy[2 * i] - x) ** 2 + (spots.xy[2 * i + 1] - y) ** 2; if (d < near) { near = d; best = i; } }
    if (best < 0) return hideTip();
    const p = spots.shown ? spots.shown[best] : best;
    showTip(e.clientX, e.clientY, [pointName(p), `agreement ${fmt(score(p))}`, ...(spots.how.kind === "member" && spots.A[p] < D.ks[spots.how.i] ? [`cluster ${clusterName(spots.how.i, spots.A[p])}`] : []),
      ...(base() && base()[p] < D.consensus.k ? [`consensus cluster ${base()[p]}`] : [])]);
  });
  $("scatter").addEventListener("mouseleave", hideTip);
}
const drawUnstable = (all) => {
  if (!P) return;
  const rows = all ? P.unstable : P.unstable.slice(0, 10), B = D.consensus ? base() : null;
  fill($("unstable"), table(["point", "agreement", ...(B ? ["consensus cluster"] : [])], rows.map((i) => [short(pointName(i), 40), fmt(score(i)), ...(B ? [B[i] < D.consensus.k ? String(B[i]) : "none"] : [])]), { label: "Most unstable points" }),
    rows.length < P.unstable.length ? button(`Show ${P.unstable.length}`, () => drawUnstable(true)) : null);
};

// --- 6. the ensemble --------------------------------------------------------------------------------------------
const T = D.together;
const cells = T && lazy(() => decoded(T.cells));
const drawConsensus = () => {
  if (!T) return;
  const canvas = $("consensus"), m = T.size, q = cells(), w = Math.min(canvas.parentElement.clientWidth, 560), c = sharp(canvas, w, w);
  const image = new ImageData(m, m), none = css("--none").split(",").map(Number);
  for (let x = 0; x < m * m; x++) { const p = q[x] === 255 ? none : viridis(q[x] / 254); image.data.set([p[0], p[1], p[2], 255], 4 * x); }
  const small = document.createElement("canvas"); small.width = small.height = m;
  small.getContext("2d").putImageData(image, 0, 0);
  c.imageSmoothingEnabled = m > w;
  c.drawImage(small, 0, 0, w, w);
  legend($("consensus-legend"), "0", "1", viridis, "share of the members that put two points together");
};
if (T) {
  $("consensus").addEventListener("mousemove", (e) => {
    const box = $("consensus").getBoundingClientRect(), m = T.size, i = Math.floor((e.clientY - box.top) / box.height * m), j = Math.floor((e.clientX - box.left) / box.width * m);
    if (i < 0 || j < 0 || i >= m || j >= m) return hideTip();
    const v = cells()[i * m + j], name = (x) => T.order ? pointName(T.orderOf()[x]) : `points ${(T.edges[x] + 1).toLocaleString("en")} to ${T.edges[x + 1].toLocaleString("en")} of the order`;
    showTip(e.clientX, e.clientY, [name(i), name(j), v === 255 ? "never seen together" : `consensus ${(v / 254).toFixed(3)}`]);
  });
  $("consensus").addEventListener("mouseleave", hideTip);
  if (T.order) T.orderOf = lazy(() => decoded(T.order));
}
const drawCdf = () => {
  if (!T) return;
  const box = $("cdf"), w = Math.min(box.clientWidth || 420, 460), h = 250, pad = { left: 44, right: 10, top: 22, bottom: 36 };
  const fx = (t) => pad.left + t * (w - pad.left - pad.right), fy = (t) => h - pad.bottom - t * (h - pad.top - pad.bottom);
  let d = `M${fx(0)},${fy(0)}`, last = 0;
  T.cdf_values.forEach((x, i) => { d += `L${fx(x).toFixed(1)},${fy(last).toFixed(1)}L${fx(x).toFixed(1)},${fy(T.cdf[i]).toFixed(1)}`; last = T.cdf[i]; });
  fill(box, svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": "Distribution of the consensus values" },
    svg("rect", { x: fx(0.1), y: fy(1), width: fx(0.9) - fx(0.1), height: fy(0) - fy(1), class: "band" }),
    axes(w, h, pad, [0, 0.1, 0.5, 0.9, 1], [0, 0.5, 1], "consensus of two points", "share of the pairs at or below", fx, fy), svg("path", { d, class: "curve" })));
};
const drawChoice = () => {
  if (!T || !T.choice) return;
  const box = $("choice"), wide = box.clientWidth || 700, w = wide < 520 ? wide : Math.floor((wide - 24) / (wide < 800 ? 2 : 3)), h = 176, pad = { left: 52, right: 10, top: 32, bottom: 34 }, ks = T.choice.ks;
  fill(box, T.choice.curves.map((c) => {
    const known = c.values.filter((x) => x !== null);
    if (!known.length) return null;
    const errs = c.errors.map((x) => x === null ? 0 : 2 * x);
    const lo = Math.min(...c.values.map((v, i) => v === null ? Infinity : v - errs[i])), hi = Math.max(...c.values.map((v, i) => v === null ? -Infinity : v + errs[i]));
    const fx = (k) => pad.left + 8 + (ks.indexOf(k)) / Math.max(ks.length - 1, 1) * (w - pad.left - pad.right - 16), fy = (v) => h - pad.bottom - (v - lo) / ((hi - lo) || 1) * (h - pad.top - pad.bottom);
    const pts = ks.map((k, i) => c.values[i] === null ? null : [fx(k), fy(c.values[i]), errs[i], c.values[i], k]).filter(Boolean);
    const ticks = ks.length <= 12 ? ks : ks.filter((_, i) => i % Math.ceil(ks.length / 10) === 0), round = (x) => Number(x.toPrecision(3));
    return svg("svg", { width: w, height: h, viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `${c.title} over the number of clusters; best ${c.best}` },
      axes(w, h, pad, ticks, [], "clusters", `${c.name} ${{ higher: "↑", lower: "↓", elbow: "(elbow)" }[c.better]}${c.votes ? "" : ", not counted"}`, fx, fy),
      [lo, hi].map((v) => svg("text", { x: pad.left - 4, y: fy(v) + 4, "text-anchor": "end", class: "small muted" }, String(round(v)))),
      pts.map((p) => p[2] ? svg("line", { x1: p[0], x2: p[0], y1: fy(p[3] - p[2]), y2: fy(p[3] + p[2]), class: "axis" }) : null),
      svg("path", { d: pts.map((p, i) => `${i ? "L" : "M"}${p[0].toFixed(1)},${p[1].toFixed(1)}`).join(""), class: "curve" }),
      pts.map((p) => { const dot = p[4] === c.best ? svg("path", { d: star(p[0], p[1], 8), class: "best" }) : svg("circle", { cx: p[0], cy: p[1], r: 3, class: "dot" });
        dot.addEventListener("mousemove", (e) => showTip(e.clientX, e.clientY, [`${p[4]} clusters`, `${c.name} ${fmt(p[3])}`])); dot.addEventListener("mouseleave", hideTip); return dot; }));
  }));
};
const drawMethods = () => {
  if (!T) return;
  fill($("methods"), table(["method", "clusters", "arimp", "anmi", "own objective", "seconds"], T.methods.map((r) => r.left_out ? [r.method, "–", "–", "–", `left out: ${r.left_out}`, "–"]
    : [r.method, r.n_clusters, fmt(r.arimp), fmt(r.anmi), `${fmt(r.value)} (${r.objective})`, r.seconds.toFixed(2)]), { label: "Consensus clusterings by method" }));
};

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

// --- controls, and drawing anew when the page changes ---------------------------------------------------------------
for (const input of document.querySelectorAll("input[name=measure]")) input.addEventListener("change", () => {
  state.measure = Number(input.value); state.cursor = null;
  drawHeat(); drawMap();
});
for (const [id, at] of [["pair-a", 0], ["pair-b", 1]]) {
  const select = $(id);
  D.names.forEach((_, i) => select.append(el("option", { value: i }, short(starred(i), 60))));
  select.addEventListener("change", () => { const p = [...state.pair]; p[at] = Number(select.value); choose(...p); });
}
$("swap").addEventListener("click", () => choose(state.pair[1], state.pair[0]));
if (colourings.length) {
  const select = $("colour");
  colourings.forEach((x, i) => select.append(el("option", { value: i }, short(x.name, 60))));
  select.addEventListener("change", () => { state.colour = Number(select.value); drawScatter(); });
}
const drawAll = () => { drawHeat(); drawMap(); drawPair(); drawHistogram(); drawScatter(); drawConsensus(); drawCdf(); drawChoice(); };
const root = document.documentElement;
$("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  drawAll(); drawAgainst(false);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
let theme;
addEventListener("beforeprint", () => { theme = root.dataset.theme; root.dataset.theme = "light"; drawAll(); });
addEventListener("afterprint", () => { if (theme) root.dataset.theme = theme; else delete root.dataset.theme; drawAll(); });
let width = root.clientWidth, wait;
addEventListener("resize", () => { if (root.clientWidth === width) return; width = root.clientWidth; clearTimeout(wait); wait = setTimeout(drawAll, 120); });
drawAll(); drawAgainst(false); drawUnstable(false); drawMethods();
root.dataset.ready = Math.round(performance.now());
})();
