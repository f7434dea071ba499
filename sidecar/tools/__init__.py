"""What the model can call: built in, provided by the client, and recall."""
