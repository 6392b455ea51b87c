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
