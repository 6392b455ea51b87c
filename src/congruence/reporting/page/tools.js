// Draws the report from the data in the page. Text from the file reaches the page as text nodes only, never as markup.
const D = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const L = D.names.length;

// --- small tools -------------------------------------------------------------------------------------------------
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
  for (const c of children.flat(2)) if (c !== null && c !== undefined && c !== false) node.append(c);
  return node;
};
const el = (tag, attrs, ...children) => put(document.createElement(tag), attrs, children);
const svg = (tag, attrs, ...children) => put(document.createElementNS("http://www.w3.org/2000/svg", tag), attrs, children);
const fill = (node, ...children) => node.replaceChildren(...children.flat(2).filter((c) => c !== null && c !== undefined && c !== false));
const button = (text, act, attrs) => el("button", { type: "button", onclick: act, ...attrs }, text);

const isNumber = (x) => x !== null && x !== undefined && !Number.isNaN(x);
const fmt = (x, digits = 2) => !isNumber(x) ? "undefined" : Math.abs(x) < 1e5 ? x.toFixed(digits).replace(/^-(0\.0+)$/, "$1") : x.toPrecision(5);
const whole = (x) => Math.abs(x - Math.round(x)) < 1e-9 ? Math.round(x).toLocaleString("en") : x.toLocaleString("en", { maximumFractionDigits: 1 });
const percent = (x) => `${Math.min(Math.max(Math.round(100 * x), x > 0 ? 1 : 0), x < 1 ? 99 : 100)}%`;
const plural = (n, one, many) => `${whole(n)} ${n === 1 ? one : many || one + "s"}`;
const short = (s, n) => s.length <= n ? s : n < 8 ? s.slice(0, n - 1) + "…" : s.slice(0, Math.ceil((n - 1) * 0.55)) + "…" + s.slice(s.length - Math.floor((n - 1) * 0.45)); // names often differ at their end
const ruler = lazy(() => { const c = document.createElement("canvas").getContext("2d"); c.font = "12px system-ui, sans-serif"; return c; });
const lengthOf = (s) => ruler().measureText(s).width; // of a small text
const fitted = (s, room) => { let n = s.length; while (n > 2 && lengthOf(short(s, n)) > room) n--; return short(s, n); };
const broken = (s, room) => s.split(" ").reduce((lines, word) => { // lines that fit
  const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
  return lines.length && lengthOf(longer) <= room ? [...lines.slice(0, -1), longer] : [...lines, word];
}, []);
const ticksOf = (lo, hi, most = 5) => { // round numbers within the limits
  const span = (hi - lo) || 1, raw = span / most, unit = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 2.5, 5, 10].map((x) => x * unit).find((x) => x >= raw - 1e-12), found = [];
  for (let x = Math.ceil(lo / step - 1e-9) * step; x <= hi + 1e-9 * span; x += step) found.push(Number(x.toPrecision(10)));
  return found;
};
const inWords = (band, x) => isNumber(x) ? D.bands[band].find(([low]) => Math.round(100 * x) / 100 >= low)[1] : "unknown"; // of the values as shown, with two decimals
const SIGNS = { "=": (x, y) => x === y, "<": (x, y) => x < y, "<=": (x, y) => x <= y, ">": (x, y) => x > y, ">=": (x, y) => x >= y };
const said = (key, facts) => { // a phrase of the table with its places filled, as said in Python
  const holds = (condition) => {
    const [name, sign, limit] = condition.split(" "), x = Number(facts[name]);
    return limit === "undefined" ? Number.isNaN(x) : SIGNS[sign](x, Number(limit in facts ? facts[limit] : limit));
  };
  const cases = D.phrases[key], text = typeof cases === "string" ? cases : cases[Object.keys(cases).find((when) => !when || when.split(", ").every(holds))];
  return text.replace(/\{(\w+)(?::(\w+))?(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name, form, one, many) => {
    const x = facts[name];
    return !(name in facts) ? said(name, facts) : one !== undefined ? (x === 1 ? one : many) : typeof x === "string" ? x : !form ? whole(x)
      : form === "percent" ? percent(x) : form in D.bands ? inWords(form, x) : fmt(x, form === "two" ? 2 : 4);
  });
};
const letter = (i) => { let s = ""; for (i += 1; i > 0; i = Math.floor((i - 1) / 26)) s = String.fromCharCode(65 + (i - 1) % 26) + s; return s; };
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const range = (n) => Array.from({ length: n }, (_, i) => i);

// --- tables, hints, downloads ------------------------------------------------------------------------------------
const table = (head, rows, label) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
  el("table", {}, el("thead", {}, el("tr", {}, head.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", {}, rows.map((r) => el("tr", {}, r.map((c, j) => j === 0 ? el("th", { scope: "row" }, c) : el("td", {}, c)))))));
const tip = $("tip");
const showTip = (x, y, lines) => {
  fill(tip, lines.filter(Boolean).map((t) => el("div", {}, t)));
  tip.hidden = false;
  const w = tip.offsetWidth, h = tip.offsetHeight;
  tip.style.left = Math.max(4, Math.min(window.innerWidth - w - 8, x + 14)) + "px";
  tip.style.top = Math.max(4, y + 18 + h > window.innerHeight ? y - h - 10 : y + 18) + "px";
};
const hideTip = () => { tip.hidden = true; };
const hint = (node, lines) => {
  node.addEventListener("mousemove", (e) => showTip(e.clientX, e.clientY, typeof lines === "function" ? lines() : lines));
  node.addEventListener("mouseleave", hideTip);
  return node;
};
const help = (term) => {
  const show = (e) => { const b = e.currentTarget.getBoundingClientRect(); showTip(b.left, b.bottom - 14, [`${term}: ${D.terms[term]}`]); };
  return el("button", { type: "button", class: "help", "aria-label": `What does ${term} mean? ${D.terms[term]}`, onclick: show, onfocus: show, onmouseenter: show, onmouseleave: hideTip, onblur: hideTip }, "?");
};
for (const node of document.querySelectorAll("[data-help]")) node.append(" ", help(node.dataset.help));

const letDown = (name, content, type) => {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const a = el("a", { href: url, download: name });
  document.body.append(a); a.click(); a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
};
const csv = (name, rows) => {
  const cell = (x) => { const s = isNumber(x) ? String(x) : ""; return /[",\n\r]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s; };
  letDown(name, rows.map((r) => r.map(cell).join(",")).join("\n") + "\n", "text/csv");
};
const STYLED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "font-size", "font-weight", "text-anchor", "paint-order"];
const svgText = (node) => { // a picture that looks the same outside of the page: the styles are written into it
  const copy = node.cloneNode(true), from = [node, ...node.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((x, i) => { const s = getComputedStyle(x); for (const key of STYLED) to[i].setAttribute(key, s.getPropertyValue(key)); });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", "system-ui, sans-serif");
  const box = node.viewBox.baseVal;
  copy.prepend(svg("rect", { x: box.x, y: box.y, width: box.width, height: box.height, fill: css("--bg") }));
  return new XMLSerializer().serializeToString(copy);
};
// a canvas is drawn again into an SVG of shapes and text: `painters` holds how, given something with the methods of a canvas
const painters = new WeakMap(), MOST_CELLS = 60000;
const recorder = () => {
  const parts = [], measure = document.createElement("canvas").getContext("2d"), num = (x) => String(Math.round(100 * x) / 100);
  let path = [];
  const add = (tag, attrs, text) => parts.push(svg(tag, attrs, text === undefined ? [] : [text]));
  const c = {
    fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "", textAlign: "left", textBaseline: "middle",
    clearRect: () => {}, setTransform: () => {}, measureText: (t) => { measure.font = c.font; return measure.measureText(t); },
    fillRect: (x, y, w, h) => add("rect", { x: num(x), y: num(y), width: num(w), height: num(h), fill: c.fillStyle, "fill-opacity": num(c.globalAlpha) }),
    strokeRect: (x, y, w, h) => add("rect", { x: num(x), y: num(y), width: num(w), height: num(h), fill: "none", stroke: c.strokeStyle, "stroke-width": num(c.lineWidth) }),
    fillText: (t, x, y) => add("text", { x: num(x), y: num(y), fill: c.fillStyle, "font-size": parseFloat(c.font), "text-anchor": { right: "end", center: "middle" }[c.textAlign] || "start", "dominant-baseline": "central" }, t),
    beginPath: () => { path = []; }, closePath: () => path.push("Z"), moveTo: (x, y) => path.push(`M${num(x)},${num(y)}`), lineTo: (x, y) => path.push(`L${num(x)},${num(y)}`),
    arc: (x, y, r) => path.push(`M${num(x - r)},${num(y)}a${num(r)},${num(r)} 0 1 0 ${num(2 * r)},0a${num(r)},${num(r)} 0 1 0 ${num(-2 * r)},0`),
    fill: () => add("path", { d: path.join(""), fill: c.fillStyle, "fill-opacity": num(c.globalAlpha) }),
    stroke: () => add("path", { d: path.join(""), fill: "none", stroke: c.strokeStyle, "stroke-width": num(c.lineWidth), "stroke-opacity": num(c.globalAlpha) }),
    drawImage: (image, x, y, w, h) => { // a rectangle per run of equal cells; very large matrices stay pictures, with their text beside them
      const { width, height } = image, data = image.getContext("2d").getImageData(0, 0, width, height).data, colour = (p) => `#${[0, 1, 2].map((i) => data[4 * p + i].toString(16).padStart(2, "0")).join("")}`;
      if (width * height > MOST_CELLS) { add("image", { href: image.toDataURL(), x: num(x), y: num(y), width: num(w), height: num(h), preserveAspectRatio: "none" }); return; }
      for (let r = 0; r < height; r++) for (let k = 0, end; k < width; k = end) {
        for (end = k + 1; end < width && colour(r * width + end) === colour(r * width + k);) end++;
        add("rect", { x: num(x + k * w / width), y: num(y + r * h / height), width: num((end - k) * w / width), height: num(h / height), fill: colour(r * width + k) });
      }
    },
  };
  const target = { style: {}, setAttribute: () => {}, getContext: () => c, isRecorder: true };
  return { target, text: (w, h) => new XMLSerializer().serializeToString(svg("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${num(w)} ${num(h)}`, width: num(w), height: num(h), "font-family": "system-ui, sans-serif", "shape-rendering": "auto" },
    svg("rect", { width: num(w), height: num(h), fill: css("--bg") }), parts)) };
};
const canvasSvg = (canvas) => {
  const { target, text } = recorder();
  painters.get(canvas)(target);
  return text(parseFloat(canvas.style.width), parseFloat(canvas.style.height));
};
const bytesOf = (url) => Uint8Array.from(atob(url.split(",")[1]), (c) => c.charCodeAt(0));
const savePng = (name, node) => {
  if (node instanceof HTMLCanvasElement) return letDown(`${name}.png`, bytesOf(node.toDataURL()), "image/png");
  const box = node.viewBox.baseVal, image = new Image();
  image.onload = () => {
    const canvas = el("canvas", { width: 2 * box.width, height: 2 * box.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    letDown(`${name}.png`, bytesOf(canvas.toDataURL()), "image/png");
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svgText(node));
};
const saver = (name, find, rows, called) => // buttons that save a figure: the node that is drawn, and its rows for CSV
  el("div", { class: "save", role: "group", "aria-label": `Save ${name.replaceAll("-", " ")}` },
    find ? button("SVG", () => letDown(`${name}.svg`, find() instanceof HTMLCanvasElement ? canvasSvg(find()) : svgText(find()), "image/svg+xml"), { "data-save": `${name}.svg`, "aria-label": `${name.replaceAll("-", " ")} as SVG` }) : null,
    find ? button("PNG", () => savePng(name, find()), { "data-save": `${name}.png`, "aria-label": `${name.replaceAll("-", " ")} as PNG` }) : null,
    rows ? button(called || "CSV", () => csv(`${name}.csv`, rows()), { "data-save": `${name}.csv`, "aria-label": called || `${name.replaceAll("-", " ")} as CSV` }) : null);
const sharp = (canvas, width, height) => {
  if (canvas.isRecorder) return canvas.getContext("2d");
  const d = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * d); canvas.height = Math.round(height * d);
  canvas.style.width = width + "px"; canvas.style.height = height + "px";
  const c = canvas.getContext("2d");
  c.setTransform(d, 0, 0, d, 0, 0);
  return c;
};
const axes = (w, h, pad, xs, ys, xlabel, ylabel, fx, fy) => [
  xs.map((t) => svg("text", { x: fx(t), y: h - pad.bottom + 16, "text-anchor": "middle", class: "small muted" }, String(t))),
  ys.map((t) => svg("text", { x: pad.left - 6, y: fy(t) + 4, "text-anchor": "end", class: "small muted" }, t.toLocaleString("en"))),
  svg("line", { x1: pad.left, x2: w - pad.right, y1: h - pad.bottom, y2: h - pad.bottom, class: "axis" }),
  svg("text", { x: Math.max(lengthOf(xlabel) / 2 + 2, Math.min((pad.left + w - pad.right) / 2, w - lengthOf(xlabel) / 2 - 2)), y: h - 4, "text-anchor": "middle", class: "small" }, xlabel),
  [ylabel].flat().map((line, i) => svg("text", { x: 4, y: 12 + 14 * i, class: "small" }, line))].flat();
const star = (x, y, r) => range(10).map((i) => {
  const a = Math.PI * (i / 5 - 0.5), d = i % 2 ? r * 0.45 : r;
  return `${i ? "L" : "M"}${(x + d * Math.cos(a)).toFixed(1)},${(y + d * Math.sin(a)).toFixed(1)}`;
}).join("") + "Z";
