"""The report: plain data first (model.py), its words (words.py), then one HTML file (html.py, template.html)."""
