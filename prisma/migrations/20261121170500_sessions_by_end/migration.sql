-- How many devices were online when: the sessions that ended in a window, without those that ended long ago.
CREATE INDEX "session_closed_idx" ON "session"("disconnected_at") WHERE "disconnected_at" IS NOT NULL;
