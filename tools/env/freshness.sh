# tools/env/freshness.sh: is what was built last still what the sources say? Sourced by `dev` and by build.sh.

# Folders whose files can change a program. Tests and documents cannot.
SOURCE_FOLDERS=(base proto ir formats passes runtime optimizer server report client tools third_party)

# stamp: a file as old as the start of the last good build of the programs, in this environment.
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
