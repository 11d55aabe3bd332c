-- Made from schema.py by python -m tests.manual.
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE TABLE chunks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            file INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
            ord INTEGER NOT NULL,
            start_line INTEGER NOT NULL,
            end_line INTEGER NOT NULL,
            heading TEXT NOT NULL,
            tokens INTEGER NOT NULL,
            body TEXT NOT NULL,
            extra TEXT NOT NULL,  -- words that the tokenizer alone would miss
            hash BLOB NOT NULL    -- Chunk.id
        );
CREATE INDEX "idx_chunks_file"
    ON "chunks" ("file");
CREATE VIRTUAL TABLE fts USING fts5(
            heading, body, extra,
            content = 'chunks', content_rowid = 'id', detail = full, tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
        );
CREATE TABLE "vectors" (
   "chunk" INTEGER PRIMARY KEY REFERENCES "chunks"("id"),
   "key" BLOB NOT NULL,
   "state" INTEGER NOT NULL
);
CREATE INDEX vectors_unpacked ON vectors(state) WHERE state < 2;
CREATE TABLE "retrievals" (
   "hash" BLOB PRIMARY KEY,
   "count" INTEGER NOT NULL,
   "last_at" INTEGER NOT NULL
);
CREATE TABLE "meta" (
   "name" TEXT PRIMARY KEY,
   "value" TEXT NOT NULL
);
CREATE TABLE jobs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            key TEXT NOT NULL UNIQUE,      -- see store.jobs.key_of
            subject TEXT NOT NULL,
            marks TEXT NOT NULL CHECK (json_valid(marks)),
            payload TEXT NOT NULL CHECK (json_valid(payload)),
            state TEXT NOT NULL,           -- one of store.jobs.STATES
            attempts INTEGER NOT NULL DEFAULT 0,
            error TEXT NOT NULL DEFAULT '',
            note TEXT NOT NULL DEFAULT '',
            revision INTEGER,
            not_before INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            finished_at INTEGER NOT NULL DEFAULT 0
        );
CREATE INDEX "idx_jobs_state"
    ON "jobs" ("state");
CREATE TABLE "circuits" (
   "name" TEXT PRIMARY KEY,
   "failures" INTEGER NOT NULL,
   "until" REAL NOT NULL,
   "reason" TEXT NOT NULL,
   "message" TEXT NOT NULL,
   "hint" TEXT NOT NULL
);
CREATE TABLE "files" (
   "id" INTEGER PRIMARY KEY,
   "path" TEXT NOT NULL,
   "signature" BLOB NOT NULL,
   "hash" BLOB NOT NULL,
   "note" TEXT NOT NULL
);
CREATE UNIQUE INDEX "idx_files_path"
    ON "files" ("path");
CREATE TABLE "embeddings" (
   "id" INTEGER PRIMARY KEY,
   "model" TEXT NOT NULL,
   "key" BLOB NOT NULL,
   "vectors" BLOB NOT NULL
);
CREATE UNIQUE INDEX "idx_embeddings_model_key"
    ON "embeddings" ("model", "key");
CREATE TABLE "queries" (
   "id" INTEGER PRIMARY KEY,
   "model" TEXT NOT NULL,
   "text" TEXT NOT NULL,
   "vector" BLOB NOT NULL
);
CREATE UNIQUE INDEX "idx_queries_model_text"
    ON "queries" ("model", "text");
INSERT INTO _sqlite_migrations (migration_set, name, applied_at)
    VALUES ('mem', 'first', datetime('now'));
INSERT INTO _sqlite_migrations (migration_set, name, applied_at)
    VALUES ('mem', 'jobs', datetime('now'));
INSERT INTO _sqlite_migrations (migration_set, name, applied_at)
    VALUES ('mem', 'circuits', datetime('now'));
INSERT INTO _sqlite_migrations (migration_set, name, applied_at)
    VALUES ('mem', 'joined_by_the_query', datetime('now'));
INSERT INTO _sqlite_migrations (migration_set, name, applied_at)
    VALUES ('mem', 'signatures', datetime('now'));
