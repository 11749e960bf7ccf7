-- CreateTable
CREATE TABLE "applied_configuration" (
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "fields" JSONB NOT NULL,
    "revision" INTEGER NOT NULL,
    "applied_by" TEXT NOT NULL,
    "applied_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "applied_configuration_pkey" PRIMARY KEY ("kind","name")
);
