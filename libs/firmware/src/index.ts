export { AppImageReader } from './app-image-reader.js';
export type { AppImage, ImageVerdict } from './app-image-reader.js';
export { compareVersions } from './compare-versions.js';
export { downloadLoop } from './download-loop.js';
export type { ImageRefusalCode } from './image-refusal.js';
export { isParsableVersion, parsableVersion } from './version-text.js';
