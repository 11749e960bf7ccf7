-- By hand: before each batch of upgrades somebody asks how many downloads are open, of all that ever were.
CREATE INDEX download_open_idx ON download (expires_at) WHERE completed_at IS NULL;
-- Equal files are found by their content.
CREATE INDEX firmware_image_sha256_idx ON firmware_image (sha256);
