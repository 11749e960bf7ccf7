-- CreateTable
CREATE TABLE "oauth_client" (
    "id" TEXT NOT NULL,
    "metadata" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "remote_address" TEXT,

    CONSTRAINT "oauth_client_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_grant" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "client_name" TEXT NOT NULL,
    "client_host" TEXT NOT NULL,
    "scopes" TEXT[],
    "devices" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "agent_grant_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "oauth_artifact" (
    "kind" TEXT NOT NULL,
    "id_hash" TEXT NOT NULL,
    "grant_id" UUID,
    "payload" JSONB NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oauth_artifact_pkey" PRIMARY KEY ("kind","id_hash")
);

-- CreateIndex
CREATE INDEX "agent_grant_user_id_idx" ON "agent_grant"("user_id");

-- CreateIndex
CREATE INDEX "agent_grant_expires_at_idx" ON "agent_grant"("expires_at");

-- CreateIndex
CREATE INDEX "oauth_artifact_grant_id_idx" ON "oauth_artifact"("grant_id");

-- CreateIndex
CREATE INDEX "oauth_artifact_expires_at_idx" ON "oauth_artifact"("expires_at");
