/** The section of a release in CHANGELOG.md (Keep a Changelog). Pure. */

const UNRELEASED = '## [Unreleased]';

/** What is unreleased, without its heading. */
export function unreleased(changelog) {
  const start = changelog.indexOf(UNRELEASED);
  if (start === -1) throw new Error(`CHANGELOG.md has no heading "${UNRELEASED}".`);
  const rest = changelog.slice(start + UNRELEASED.length);
  const end = rest.search(/^## \[/m);
  return (end === -1 ? rest : rest.slice(0, end)).trim();
}

/** Moves what is unreleased below a heading with version and date. */
export function released(changelog, version, date) {
  const section = unreleased(changelog);
  if (section === '') throw new Error('CHANGELOG.md has nothing below [Unreleased]. There is nothing to release.');
  if (changelog.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md already has a section for ${version}.`);
  return changelog.replace(UNRELEASED, `${UNRELEASED}\n\n## [${version}] - ${date}`);
}
