# Nodes and edges of clustree's tree of k-means clusterings of iris, one attribute per line: package, attribute, values.
# Rscript reproductions/clustree.R path/to/clustree/R > docs/reproductions/clustree_r.txt
# clustree is not in Debian. The tree is built by two files of its repository (lazappi/clustree, commit a961d7a), R/graph.R
# and R/stability.R, which need dplyr and tidygraph (Debian: r-cran-dplyr r-cran-tidygraph). Nothing is drawn.
suppressPackageStartupMessages({ library(dplyr); library(tidygraph) })
folder <- commandArgs(trailingOnly = TRUE)[1]
for (file in c("graph.R", "stability.R")) source(file.path(folder, file))

emit <- function(attribute, values) {
  cat("clustree", attribute, paste(sprintf("%.10g", as.numeric(values)), collapse = " "), sep = "\t")
  cat("\n")
}

X <- as.matrix(iris[, 1:4])
set.seed(1)
clusterings <- sapply(1:6, function(k) kmeans(X, k, nstart = 2)$cluster)
colnames(clusterings) <- paste0("K", 1:6)
colour <- list(colour = list(value = "width", aggr = "mean"))
graph <- suppressWarnings(
  build_tree_graph(clusterings, "K", count_filter = 0, prop_filter = 0.1, data.frame(width = iris$Petal.Width), colour)
)

cat(R.version.string, "\n", sep = "")
for (p in c("dplyr", "tidygraph")) cat(p, as.character(packageVersion(p)), "\n")
for (name in colnames(clusterings)) emit(name, clusterings[, name])
nodes <- as.data.frame(activate(graph, nodes))
for (name in c("size", "sc3_stability", "mean_width")) emit(paste("nodes:", name), nodes[[name]])
edges <- as.data.frame(activate(graph, edges))
for (name in c("from_res", "from_clust", "to_clust", "count", "in_prop")) emit(paste("edges:", name), edges[[name]])
