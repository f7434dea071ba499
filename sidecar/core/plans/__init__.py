"""What a plan is made of: what must stay, what each item is worth, how it is shortened."""
