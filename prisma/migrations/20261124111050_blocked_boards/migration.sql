-- CreateTable
CREATE TABLE "blocked_board" (
    "device_id" TEXT NOT NULL,
    "model" TEXT,
    "blocked_by" TEXT NOT NULL,
    "blocked_at" TIMESTAMPTZ(3) NOT NULL,
    "blocked_until" TIMESTAMPTZ(3),

    CONSTRAINT "blocked_board_pkey" PRIMARY KEY ("device_id")
);

-- CreateIndex
CREATE INDEX "blocked_board_blocked_at_device_id_idx" ON "blocked_board"("blocked_at", "device_id");
