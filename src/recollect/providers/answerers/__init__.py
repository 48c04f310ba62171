"""Those who answer questions over data: a Denodo server, a model that writes SQL, or rules that adapt the SQL before."""
