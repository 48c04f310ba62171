"""Which of the things found is the latest word, where nobody has marked it: at recall, over memories and verbatim turns alike.

Two judges, one after the other. `asked` knows the question and orders: among what gives different answers to it, the latest comes
first and the earlier ones are marked. It serves every recall. `stated` knows no question but what each find says of whom: what a
later one replaces is told below it as how it was before. It serves the chat, over what `asked` has ordered, and is the stricter:
what it puts below another is no answer any more. Neither hides anything, and neither decides for good.
"""
