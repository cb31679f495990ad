-- Our own backend of a connection that is gone may still wait for the client. It is recognized by its transaction, so
-- no other backend can be meant.
SELECT pg_terminate_backend(b.pid) FROM pg_stat_activity b WHERE b.backend_xid = $1::text::xid8::xid;
