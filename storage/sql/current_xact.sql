-- Gives the transaction its id before it draws the first events.seq; the id also tells its fate after a lost COMMIT.
SELECT pg_current_xact_id()::text;
