-- A thread is in the space of its channel, and the main thread of a channel is one of it.
SELECT format('thread %s of channel %s is in space %s, the channel in %s', t.id, c.id, t.space_id, c.space_id)
FROM threads t JOIN channels c ON c.id = t.channel_id WHERE t.space_id <> c.space_id
UNION ALL
SELECT format('channel %s has main thread %s, which is a %s of channel %s', c.id, t.id, t.kind, t.channel_id)
FROM channels c JOIN threads t ON t.id = c.main_thread_id WHERE t.kind <> 'main' OR t.channel_id <> c.id;
