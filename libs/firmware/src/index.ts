export type { AppDescription } from './app-description.js';
export { AppImageReader } from './app-image-reader.js';
export type { AppImage, ImageVerdict, RunningHash } from './app-image-reader.js';
export { compareVersions } from './compare-versions.js';
export { downloadLoop } from './download-loop.js';
export type { ImageRefusal, ImageRefusalCode } from './image-refusal.js';
export { isParsableVersion, parsableVersion } from './version-text.js';
