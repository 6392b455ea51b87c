// the page's script is one scope of several modules; names of the browser are the only others it may use
const names = ["document", "window", "location", "history", "atob", "Blob", "URL", "URLSearchParams", "Image", "ImageData", "XMLSerializer", "HTMLCanvasElement", "getComputedStyle",
  "matchMedia", "performance", "setTimeout", "clearTimeout", "addEventListener"];
export default [{
  files: ["**/*.js"],
  languageOptions: { ecmaVersion: 2022, sourceType: "script", globals: Object.fromEntries(names.map((name) => [name, "readonly"])) },
  linterOptions: { reportUnusedDisableDirectives: true },
  rules: Object.fromEntries(["no-undef", "no-unused-vars", "no-redeclare", "no-shadow", "no-var", "prefer-const", "eqeqeq", "no-const-assign", "no-dupe-keys", "no-dupe-args", "no-unreachable",
    "no-self-compare", "no-fallthrough", "no-cond-assign", "no-eval", "no-implied-eval", "no-new-func", "no-throw-literal", "no-empty", "no-constant-condition", "valid-typeof", "use-isnan",
    "no-unsafe-finally", "no-sparse-arrays", "array-callback-return", "no-loss-of-precision"].map((rule) => [rule, "error"])),
}];
