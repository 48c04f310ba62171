"""What both SQL stores share: tables, statements and row mapping. What differs lives in `stores.sqlite` and
`stores.postgres`.
"""
