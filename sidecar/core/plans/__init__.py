"""What plans are made of: what stays, what items are worth, how they are shortened."""
