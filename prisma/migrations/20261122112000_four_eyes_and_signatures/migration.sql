-- AlterTable
ALTER TABLE "job" ADD COLUMN     "approval_targets" INTEGER,
ADD COLUMN     "created_by_owner" TEXT;

-- AlterTable
ALTER TABLE "firmware_image" ADD COLUMN     "publisher_ids" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "signature" TEXT,
ADD COLUMN     "signed_by" TEXT;

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "owner_id" TEXT;

-- CreateTable
CREATE TABLE "job_approval_target" (
    "job_id" UUID NOT NULL,
    "device_id" TEXT NOT NULL,

    CONSTRAINT "job_approval_target_pkey" PRIMARY KEY ("job_id","device_id")
);

-- CreateTable
CREATE TABLE "disruptive_call" (
    "owner" TEXT NOT NULL,
    "device_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "disruptive_call_pkey" PRIMARY KEY ("owner","device_id")
);

-- CreateTable
CREATE TABLE "firmware_signing_key" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "created_by" TEXT NOT NULL,

    CONSTRAINT "firmware_signing_key_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "disruptive_call_at_idx" ON "disruptive_call"("at");

-- CreateIndex
CREATE UNIQUE INDEX "firmware_signing_key_fingerprint_key" ON "firmware_signing_key"("fingerprint");


-- Keys recorded the name of their creator only. Where that name has one bearer, the chain of creators leads to the owner; elsewhere the key stands for itself.
WITH RECURSIVE bearer AS (
  SELECT name, min(ref) AS ref FROM (
    SELECT coalesce(email, 'user:' || id) AS name, 'USER:' || id AS ref FROM user_account
    UNION ALL SELECT name, 'KEY:' || id FROM api_key) AS named
  GROUP BY name HAVING count(DISTINCT ref) = 1),
chain AS (
  SELECT k.id, b.ref, 1 AS depth FROM api_key k JOIN bearer b ON b.name = k.created_by AND b.ref <> 'KEY:' || k.id
  UNION ALL
  SELECT c.id, b.ref, c.depth + 1 FROM chain c JOIN api_key k ON 'KEY:' || k.id = c.ref JOIN bearer b ON b.name = k.created_by
  WHERE b.ref <> c.ref AND c.depth < 100)
UPDATE api_key k SET owner_id = c.ref FROM (SELECT DISTINCT ON (id) id, ref FROM chain ORDER BY id, depth DESC) AS c WHERE c.id = k.id;

UPDATE job j SET created_by_owner = coalesce((SELECT k.owner_id FROM api_key k WHERE 'KEY:' || k.id = j.created_by_id), j.created_by_id)
WHERE j.state <> 'FINISHED';
