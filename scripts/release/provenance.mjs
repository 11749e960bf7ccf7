/**
 * What was built from what: an in-toto statement with SLSA provenance, unsigned, of a builder that
 * is this machine. Pure.
 */

export function provenanceOf({ artifacts, version, commit, lockSha256, node, startedAt, finishedAt }) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: artifacts.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:flotilla:release:1',
        externalParameters: { version },
        internalParameters: { node },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lockSha256 } },
        ],
      },
      runDetails: {
        // Unsigned, and from any machine: this is level 1 of SLSA.
        builder: { id: 'urn:flotilla:local-builder' },
        metadata: { startedOn: startedAt, finishedOn: finishedAt },
      },
    },
  };
}

/** The form of sha256sum, which checks it with --check. */
export function checksumsOf(artifacts) {
  return artifacts.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('');
}
