-- The server encrypts its log: all behind START_ENCRYPTION is unreadable.
CREATE DATABASE d;
FLUSH BINARY LOGS;
