"""What is sent: view, prompt, prefix, cache, price, meter. Knows no policy and no rewrite."""
