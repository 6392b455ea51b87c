# The code of docs/r.md, run by R through reticulate; docs/reproductions/r_users.txt is what it prints.
# RETICULATE_PYTHON=$(which python) Rscript reproductions/r_users.R > docs/reproductions/r_users.txt
# Needs r-base-core and r-cran-reticulate (Debian), and a Python that has congruence and pandas.

library(reticulate)
cg <- import("congruence")
vector_of <- function(x) if (inherits(x, "python.builtin.object")) x$tolist() else x
matrix_of <- function(x) if (is.matrix(x)) x else do.call(rbind, x$tolist())

# labels
X <- as.data.frame(scale(iris[, 1:4]))
set.seed(1)
runs <- list()
for (k in 2:5) {
  runs[[paste("kmeans", k)]] <- kmeans(X, k, nstart = 10)$cluster
  runs[[paste("ward", k)]] <- cutree(hclust(dist(X), "ward.D2"), k)
}

# two clusterings
r <- cg$compare(iris$Species, runs[["kmeans 3"]], c("ari", "ami_max", "vi"))
print(r)
r[["ari"]]
print(cg$contingency(iris$Species, runs[["kmeans 3"]]))

# many clusterings
pairs <- cg$compare_all(runs)
round(matrix_of(pairs[["ari"]])[1:4, 1:4], 2)
against <- cg$compare_to(iris$Species, runs, c("ari", "accuracy"))
print(against)

# decisions
choice <- cg$choose_k(X, k = 1:8, progress = FALSE)
choice$sentence
cg$rank(runs, X, progress = FALSE)$best
found <- cg$consensus(runs, 3L, random_state = 0L)
table(consensus = vector_of(found$labels), iris$Species)
cg$report(runs, data = X)$summary$answer

# trees
rows_of <- function(m) lapply(seq_len(nrow(m)), function(i) m[i, ])
tree_of <- function(tree) cg$Hierarchy(tuple(rows_of(tree$merge), tree$height))
average <- hclust(dist(X), "average")
ward <- hclust(dist(X), "ward.D2")
cg$cophenetic(tree_of(average), tree_of(ward))
cor(cophenetic(average), cophenetic(ward))

# missing labels
labels <- c(1L, 1L, 2L, 2L, NA)
other <- c("a", "a", "b", "b", "b")
cg$ari(labels, other)
cg$ari(labels, other, noise = NA_integer_, unassigned = "drop")
cg$ari(c("x", "x", "y", "y", NA), other, noise = "NA", unassigned = "drop")
cg$ari(as.numeric(labels), other, unassigned = "drop")
tryCatch(cg$ari(as.numeric(labels), other), error = function(e) cat(conditionMessage(e)))
