package security

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// projectTool is what is known of a tool that runs what a project defines.
type projectTool struct {
	reads string // the files that it reads first, in its folder and each one above it, up to the run's; patterns too
	was   int    // how many of them grants of earlier versions were bound to
	code  bool   // the files that its operands name are program text too
}

// projects is the one table of tools that run what a project defines. Approvals
// and grants bind a command to what these files say.
var projects = sync.OnceValue(func() map[string]projectTool {
	const (
		packages = `package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml
			bun.lock bun.lockb bunfig.toml .pnp.cjs .node-version .nvmrc tsconfig.json`
		script = "package.json tsconfig.json jsconfig.json "
		python = "pyproject.toml setup.cfg setup.py "
		gradle = `build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties gradle/wrapper/gradle-wrapper.properties gradle/wrapper/gradle-wrapper.jar
			gradle/libs.versions.toml init.gradle gradlew`
		maven = "pom.xml .mvn/maven.config .mvn/jvm.config .mvn/extensions.xml .mvn/settings.xml .mvn/wrapper/maven-wrapper.properties .mvn/wrapper/maven-wrapper.jar mvnw"
		tests = python + "pytest.ini .pytest.ini tox.ini conftest.py tests/conftest.py test/conftest.py"
		sys   = "CMakeLists.txt CMakePresets.json CMakeUserPresets.json build.ninja Makefile makefile GNUmakefile meson.build configure"
	)
	out := map[string]projectTool{}
	for names, p := range map[string]projectTool{
		"make gmake":        {reads: "Makefile makefile GNUmakefile BSDmakefile", was: 3},
		"npm pnpm yarn":     {reads: packages, was: 6},
		"npx pnpx bunx bun": {reads: packages, code: true},
		"go gofmt gopls":    {reads: "go.mod go.work go.sum go.work.sum vendor/modules.txt", code: true},
		"cargo":             {reads: ".cargo/config .cargo/config.toml build.rs Cargo.toml Cargo.lock rust-toolchain rust-toolchain.toml clippy.toml rustfmt.toml", was: 3},
		"rustc":             {reads: "rust-toolchain rust-toolchain.toml", code: true},
		"just":              {reads: "justfile Justfile .justfile .env"},
		"pytest py.test":    {reads: tests, code: true},
		"unittest nose2":    {reads: python + "unittest.cfg nose2.cfg", code: true},
		"tox":               {reads: "tox.ini " + python},
		"nox":               {reads: "noxfile.py " + python},
		"pip pip3 pipx uv uvx poetry pdm hatch rye pixi pipenv flit build": {
			reads: python + "requirements.txt constraints.txt uv.toml uv.lock poetry.lock poetry.toml pdm.lock pdm.toml Pipfile Pipfile.lock pixi.toml hatch.toml .python-version",
		},
		"conda mamba micromamba":                {reads: "environment.yml environment.yaml conda-lock.yml .condarc"},
		"invoke inv":                            {reads: "tasks.py tasks/__init__.py invoke.yaml invoke.yml invoke.json invoke.py"},
		"fab":                                   {reads: "fabfile.py fabfile/__init__.py"},
		"doit":                                  {reads: "dodo.py " + python},
		"mypy ruff black flake8 pylint isort":   {reads: python + "mypy.ini .mypy.ini ruff.toml .ruff.toml .flake8 .pylintrc pylintrc .isort.cfg tox.ini"},
		"coverage":                              {reads: ".coveragerc " + tests, code: true},
		"gradle gradlew":                        {reads: gradle},
		"mvn mvnw mvnd":                         {reads: maven},
		"ant":                                   {reads: "build.xml build.properties"},
		"sbt":                                   {reads: "build.sbt project/build.properties project/plugins.sbt .sbtopts .jvmopts project/*.scala"},
		"mill scala-cli":                        {reads: "build.sc build.mill project.scala .scalafmt.conf", code: true},
		"lein clj clojure boot bb":              {reads: "project.clj deps.edn bb.edn build.boot profiles.clj"},
		"rake":                                  {reads: "Rakefile rakefile Rakefile.rb rakefile.rb Gemfile Gemfile.lock"},
		"bundle bundler gem rspec":              {reads: "Gemfile gems.rb Gemfile.lock .bundle/config .rspec spec/spec_helper.rb *.gemspec", code: true},
		"composer phpunit artisan":              {reads: "composer.json composer.lock phpunit.xml phpunit.xml.dist artisan"},
		"deno":                                  {reads: "deno.json deno.jsonc deno.lock import_map.json package.json", code: true},
		"task go-task":                          {reads: "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml .env"},
		"cmake ctest cpack":                     {reads: sys + " CTestTestfile.cmake CMakeCache.txt toolchain.cmake"},
		"ninja samu":                            {reads: "build.ninja"},
		"meson":                                 {reads: "meson.build meson.options meson_options.txt"},
		"autoreconf autoconf automake":          {reads: "configure.ac configure.in Makefile.am aclocal.m4"},
		"scons":                                 {reads: "SConstruct Sconstruct sconstruct SConscript site_scons/site_init.py"},
		"waf":                                   {reads: "wscript waf"},
		"bazel bazelisk buck2 pants please plz": {reads: "WORKSPACE WORKSPACE.bazel MODULE.bazel BUILD BUILD.bazel .bazelrc .bazelversion BUCK .buckconfig pants.toml .plzconfig"},
		"dotnet msbuild nuget":                  {reads: "*.csproj *.fsproj *.vbproj *.sln *.slnx *.proj Directory.Build.props Directory.Build.targets Directory.Packages.props global.json nuget.config NuGet.Config dotnet-tools.json .config/dotnet-tools.json"},
		"mix":                                   {reads: "mix.exs mix.lock config/config.exs"},
		"rebar3":                                {reads: "rebar.config rebar.lock"},
		"stack cabal":                           {reads: "stack.yaml package.yaml cabal.project cabal.project.local *.cabal Setup.hs"},
		"dune opam":                             {reads: "dune-project dune dune-workspace *.opam"},
		"swift":                                 {reads: "Package.swift Package.resolved", code: true},
		"xcodebuild":                            {reads: "*.xcodeproj/project.pbxproj"},
		"zig":                                   {reads: "build.zig build.zig.zon", code: true},
		"dart flutter":                          {reads: "pubspec.yaml pubspec.lock build.yaml", code: true},
		"nim nimble":                            {reads: "*.nimble nim.cfg config.nims", code: true},
		"crystal shards":                        {reads: "shard.yml shard.lock", code: true},
		"docker podman nerdctl docker-compose podman-compose": {
			reads: "Dockerfile Containerfile .dockerignore docker-compose.yml docker-compose.yaml docker-compose.override.yml compose.yml compose.yaml compose.override.yaml docker-bake.hcl .env",
		},
		"vagrant":                               {reads: "Vagrantfile"},
		"terraform tofu terragrunt":             {reads: "*.tf *.tf.json *.tofu *.tfvars terragrunt.hcl .terraformrc .terraform.lock.hcl"},
		"pulumi":                                {reads: "Pulumi.yaml Pulumi.*.yaml package.json"},
		"ansible ansible-playbook":              {reads: "ansible.cfg hosts inventory", code: true},
		"nix nix-build nix-shell nixos-rebuild": {reads: "flake.nix flake.lock default.nix shell.nix", code: true},
		"guix":                                  {reads: "guix.scm manifest.scm channels.scm", code: true},
		"direnv":                                {reads: ".envrc .env"},
		"devbox devenv":                         {reads: "devbox.json devenv.nix devenv.yaml"},
		"pre-commit":                            {reads: ".pre-commit-config.yaml"},
		"lefthook":                              {reads: "lefthook.yml lefthook.yaml .lefthook.yml"},
		"husky lint-staged":                     {reads: "package.json .husky/* .lintstagedrc .lintstagedrc.*"},
		"act":                                   {reads: ".actrc .github/workflows/*"},
		"foreman overmind hivemind goreman honcho": {reads: "Procfile Procfile.dev .foreman .env"},
		"mage":              {reads: "magefile.go magefiles/*.go go.mod"},
		"air reflex modd":   {reads: ".air.toml air.toml modd.conf"},
		"earthly":           {reads: "Earthfile"},
		"goreleaser":        {reads: ".goreleaser.yml .goreleaser.yaml"},
		"tsc":               {reads: "tsconfig.json package.json", code: true},
		"esbuild swc babel": {reads: script + ".babelrc .babelrc.js babel.config.js .swcrc", code: true},
		"jest vitest mocha ava tap jasmine c8 nyc":  {reads: script + "jest.config.* vitest.config.* vite.config.* .mocharc.* test/mocha.opts ava.config.* .nycrc .taprc", code: true},
		"playwright cypress":                        {reads: script + "playwright.config.* cypress.config.*", code: true},
		"eslint prettier stylelint biome oxlint":    {reads: script + "eslint.config.* .eslintrc .eslintrc.* .prettierrc .prettierrc.* prettier.config.* stylelint.config.* .stylelintrc .stylelintrc.* biome.json biome.jsonc"},
		"webpack vite rollup parcel gulp grunt":     {reads: script + "webpack.config.* vite.config.* rollup.config.* gulpfile.* Gulpfile.* Gruntfile.* .parcelrc svelte.config.* postcss.config.* tailwind.config.*"},
		"next nuxt astro remix svelte-kit ng vue":   {reads: script + "next.config.* nuxt.config.* astro.config.* remix.config.* svelte.config.* vite.config.* angular.json vue.config.*"},
		"turbo nx lerna rush wireit moon changeset": {reads: packages + " turbo.json nx.json lerna.json rush.json moon.yml .moon/workspace.yml"},
		"prisma drizzle-kit knex sequelize typeorm": {reads: script + "prisma/schema.prisma drizzle.config.* knexfile.* .sequelizerc ormconfig.*"},
		"nodemon pm2": {reads: script + "nodemon.json ecosystem.config.js", code: true},
		"wrangler vercel netlify firebase flyctl":    {reads: script + "wrangler.toml wrangler.json wrangler.jsonc vercel.json netlify.toml firebase.json fly.toml"},
		"hugo jekyll mkdocs sphinx-build eleventy":   {reads: "hugo.toml hugo.yaml config.toml _config.yml mkdocs.yml conf.py docs/conf.py .eleventy.js eleventy.config.* Gemfile"},
		"latexmk pdflatex xelatex lualatex latex":    {reads: ".latexmkrc latexmkrc", code: true},
		"gcc g++ cc c++ clang clang++ tcc ld as":     {code: true},
		"javac java kotlinc kotlin scalac groovy":    {reads: "module-info.java", code: true},
		"ghc runghc runhaskell ocamlfind ocamlc":     {code: true},
		"protoc buf":                                 {reads: "buf.yaml buf.gen.yaml buf.work.yaml", code: true},
		"openapi-generator swagger-codegen graphql":  {reads: "openapitools.json codegen.yml codegen.ts", code: true},
		"helm helmfile kustomize skaffold tilt":      {reads: "Chart.yaml values.yaml helmfile.yaml kustomization.yaml skaffold.yaml Tiltfile"},
		"django-admin flask gunicorn uvicorn celery": {reads: python + "manage.py app.py wsgi.py .flaskenv .env gunicorn.conf.py celeryconfig.py", code: true},
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] = p
		}
	}
	return out
})

// projectOf is what is known of a tool, whatever version its name carries.
func projectOf(name string) (projectTool, bool) {
	p, ok := projects()[name]
	if !ok {
		p, ok = projects()[interpreterName(name)]
	}
	return p, ok
}

// Tool is a program of a command line that runs what a project defines, and the
// folder in which it does.
type Tool struct {
	Name string `json:"name"`
	Dir  string `json:"dir"` // absolute
}

// Reads lists the files that the tool reads first, there or not: those of its
// folder and of each one above it, up to folder.
func (t Tool) Reads(folder string) []string {
	p, _ := projectOf(t.Name)
	return p.files(t.Dir, folder)
}

func (p projectTool) files(dir, folder string) (files []string) {
	for _, at := range upTo(filepath.FromSlash(dir), folder) {
		for name := range strings.FieldsSeq(p.reads) {
			files = append(files, Matching(filepath.Join(at, name), strings.ContainsAny(name, "*?["))...)
		}
	}
	return files
}

// Matching lists what a pattern means now, sorted, with the pattern itself, so
// that a file which appears or goes changes the list. What is no pattern means
// itself.
func Matching(name string, pattern bool) []string {
	if !pattern {
		return []string{name}
	}
	found, err := filepath.Glob(name)
	if err != nil || len(found) > maxMatches {
		found = nil
	}
	slices.Sort(found)
	return append([]string{name}, found...)
}

// maxMatches is how many files one pattern binds.
const maxMatches = 1000
