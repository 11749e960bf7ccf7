export { compareVersions } from './compare-versions.js';
