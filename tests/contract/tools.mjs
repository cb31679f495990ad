// The libraries lie in build/contract (see `install`), so that nothing is generated among the sources.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(fileURLToPath(new URL('../../build/contract/', import.meta.url)));

function load(name) {
  try {
    return require(name);
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    throw new Error(`${name} is not installed: run tests/contract/install`);
  }
}

export const Ajv = load('ajv/dist/2020').default;
export const addFormats = load('ajv-formats').default;
export const parseYaml = load('yaml').parse;
