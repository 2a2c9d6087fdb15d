# SPDX-License-Identifier: Apache-2.0
# tools/env/freshness.sh: whether the last build of the programs is up to date. Sourced by `dev` and by build.sh.

# Folders that programs are built from (not tests and documents).
SOURCE_FOLDERS=(base proto ir formats passes runtime optimizer server report client tools third_party)

# stamp: a file whose time is the start of the last successful build of the programs in this environment.
stamp() { echo "$CLONE_DIR/built-$(env_key)"; }

programs_fresh() {
  local stamp existing=() folder
  stamp=$(stamp)
  [[ -e $stamp ]] || return 1
  for folder in "${SOURCE_FOLDERS[@]}"; do
    [[ ! -d $REPO/$folder ]] || existing+=("$REPO/$folder")
  done
  [[ -z $(find "$REPO"/{WORKSPACE,BUILD,.bazelrc} "${existing[@]}" -newer "$stamp" \
    -not -name '__pycache__' -not -name '*.pyc' -print -quit) ]]
}
