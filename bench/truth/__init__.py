"""The cells of truth.py: rows with known probabilities, and what is measured on them."""
