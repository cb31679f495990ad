-- One bootstrap at a time; the number is ours, in the space of two-part keys, and means nothing else.
SELECT pg_advisory_xact_lock(1667591540, 1);
