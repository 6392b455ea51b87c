// --- the clusters: a card each, and features by cluster ---------------------------------------------------------------
const MOST_CARDS = 30;
let allCards = false;
const pointsOf = (c) => { const found = []; A.labels.forEach((x, p) => { if (x === c) found.push(p); }); return found; };
const drawClusters = () => {
  const disputed = new Array(A.k).fill(0), towards = range(A.k).map(() => new Map());
  for (const p of A.disputed) {
    const c = A.labels[p];
    if (c >= A.k) continue;
    disputed[c] += 1;
    if (A.elsewhere[p] < A.k) towards[c].set(A.elsewhere[p], (towards[c].get(A.elsewhere[p]) || 0) + 1);
  }
  const shown = range(allCards || A.k <= MOST_CARDS + 2 ? A.k : MOST_CARDS);
  fill($("cards"), shown.map((c) => {
    const go = [...towards[c]].sort((x, y) => y[1] - x[1]), doubts = A.beyond && disputed[c];
    const named = A.isGiven && D.features && D.features.named[c];
    return el("article", { class: "card", id: `cluster-${c}`, tabindex: "-1" },
      el("h3", {}, swatch(c), ` Group ${groupName(c)}`),
      el("p", {}, el("strong", {}, plural(A.sizes[c], "point")), isAlone() ? "" : `, ${stabilityWords(c)}`, A.isGiven && D.silhouettes && isNumber(D.silhouettes[c]) ? `; silhouette ${fmt(D.silhouettes[c])}` : ""),
      el("p", { class: "muted" }, !A.beyond || isAlone() ? "" : doubts ? `${whole(disputed[c])} disputed` + (go.length ? `: ${go.slice(0, 3).map(([to, n]) => `${whole(n)} towards ${groupName(to)}`).join(", ")}${go.length > 3 ? ", …" : ""}` : "") : "No point is disputed."),
      named && named.length ? el("ul", { class: "features", "aria-label": `What sets group ${groupName(c)} apart` }, named.map(([name, d]) => el("li", {},
        el("span", { class: "name", title: name }, short(name, 26)), el("span", { class: "effect" }, el("span", { style: `width:${Math.min(50, 12.5 * Math.abs(d)).toFixed(1)}%;${d < 0 ? "right:50%" : "left:50%"};background:${rgb(effectColour(d < 0 ? -2 : 2))}` })),
        el("span", { class: "number" }, `${d < 0 ? "−" : "+"}${fmt(Math.abs(d), 1)}`)))) : null,
      button("Show its points", () => { select(pointsOf(c)); $("points").scrollIntoView(); }));
  }), A.k > shown.length ? button(`Show all ${A.k}`, () => { allCards = true; drawClusters(); }) : null);
  const note = $("cards-note");
  note.textContent = D.features ? (A.isGiven ? "Bars: how many standard deviations a group lies above (right) or below (left) all other points, for the five features that differ most." : "The features are those of the groups before anything was hidden.") : "";
  drawCheck();
  drawFeatures();
};
const drawCheck = () => { // whether the groups are separated in the data
  const box = $("check"), c = D.check;
  if (!c || !A.isGiven) return fill(box);
  fill(box, el("h3", {}, "Separated in the data?"), el("p", {}, c.sentence),
    el("details", { open: printing }, el("summary", {}, "Border by border"),
      table(["group", "points", "nearest", "stability", "valley", "p-value", "verdict"], c.rows.map(([name, size, near, stable, valley, p, verdict]) => [short(name, 26), whole(size), near === null ? "–" : short(near, 26), fmt(stable), fmt(valley), p === null ? "–" : p < 0.0001 ? "< 0.0001" : fmt(p, 4), verdict]), "Borders of the groups"),
      el("p", { class: "muted" }, ["By check_clusters. Stability: the Jaccard index of a group in one half of the points with its prediction from the other half. Valley: 1 for an empty border with the nearest group, 0 or less for none.", ...c.notes.map((x) => `${x[0].toUpperCase()}${x.slice(1)}.`)].join(" "))));
};
const drawFeatures = () => {
  const box = $("features");
  if (!D.features || !A.isGiven) return fill(box);
  const f = D.features, k = Math.min(A.k, MOST_CARDS), room = Math.min(box.clientWidth || 700, 900), left = room < 520 ? 110 : 190, w = Math.max(14, Math.min(64, (room - left - 4) / k)), h = 22;
  const cells = [];
  f.names.forEach((name, j) => {
    cells.push(hint(svg("text", { x: left - 8, y: 28 + j * h + 15, "text-anchor": "end", class: "small" }, fitted(name, left - 12)), [name]));
    for (let c = 0; c < k; c++) {
      const d = f.effects[c][j], colour = effectColour(d);
      cells.push(hint(svg("rect", { x: left + c * w, y: 28 + j * h, width: w - 1, height: h - 1, fill: rgb(colour) }), [`${name}, group ${groupName(c)}`, `${fmt(d)} standard deviations ${d < 0 ? "below" : "above"} the others`]));
      if (w >= 34) cells.push(svg("text", { x: left + c * w + w / 2, y: 28 + j * h + 15, "text-anchor": "middle", class: "small cell", style: `fill:${readable(colour)}` }, fmt(d, 1)));
    }
  });
  const heads = range(k).map((c) => svg("text", { x: left + c * w + w / 2, y: 18, "text-anchor": "middle", class: "small" }, short(groupName(c), Math.max(2, Math.floor(w / 8)))));
  const height = 30 + f.names.length * h;
  fill(box, el("h3", {}, "Features by group"), svg("svg", { width: left + k * w, height, viewBox: `0 0 ${left + k * w} ${height}`, role: "img", "aria-label": "Heat map of effect sizes, features by groups" }, heads, cells),
    legend("−2", "+2", (t) => effectColour(4 * t - 2), "standard deviations below or above the other points"),
    saver("features", () => box.querySelector("svg"), () => [["feature", ...range(A.k).map(groupName)], ...f.names.map((name, j) => [name, ...range(A.k).map((c) => f.effects[c][j])])]));
};
