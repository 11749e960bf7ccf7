-- CreateTable
CREATE TABLE "moving_board" (
    "device_id" TEXT NOT NULL,
    "model" TEXT,
    "firmware_version" TEXT,
    "former_agent" TEXT,
    "former_user" TEXT,
    "former_name" TEXT,
    "client_uuid_hash" TEXT,
    "other_client_at" TIMESTAMPTZ(3),
    "bound_there" BOOLEAN,
    "answered_at" TIMESTAMPTZ(3),
    "asked_at" TIMESTAMPTZ(3),
    "added_at" TIMESTAMPTZ(3) NOT NULL,
    "moved_at" TIMESTAMPTZ(3),
    "moved_by" TEXT,
    "returning_at" TIMESTAMPTZ(3),
    "released_at" TIMESTAMPTZ(3),
    "attempted_at" TIMESTAMPTZ(3),

    CONSTRAINT "moving_board_pkey" PRIMARY KEY ("device_id")
);
