"""What is sent: view, prompt, prefix, cache, price, meter."""
