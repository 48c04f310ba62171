"""The data chat: questions over data, answered in the light of what the same person asked before and may still see.

ask        the verb: memory -> context -> answerer -> memory
recalling  what was asked before, as far as it may be seen now
keeping    the question before its answer, the answer with what it rests on
showing    conversations to look at, take along, and delete
summaries  a short account of a long conversation, and of which tables it speaks
archiving  what has reached its end, put away before it goes
"""
