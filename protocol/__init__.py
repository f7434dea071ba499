"""The protocol as data: typed structs and tables, and what is generated from them."""
