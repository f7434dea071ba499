"""What plans are made of: what must stay, what items are worth, how they are shortened."""
