"""The door for the Model Context Protocol: tools, themes as resources, and a prompt, over standard streams or HTTP.

Each call is its own: who asks is established anew every time, over HTTP by the server's frame, over standard streams by whoever
started the process. There is no session here that somebody else could take over.
"""
