package sys

// koreanEmbed are the sentences about the vectors of memories.
func koreanEmbed() [][2]string {
	return [][2]string{
		{"Choose a model that embeds texts.", "텍스트를 임베딩하는 모델을 고르세요."},
		{"The model %s of %s gave no vectors that can be used: %s.", "%[2]s의 모델 %[1]s이(가) 쓸 수 있는 벡터를 주지 않았습니다: %[3]s."},
		{"some are missing", "일부가 없습니다"},
		{"they are of several dimensions", "차원이 서로 다릅니다"},
		{"they have no length", "길이가 0입니다"},
		{"Fetch it with `ollama pull %s`.", "`ollama pull %s`로 받으세요."},
		{"A text is too long for the model %s.", "텍스트가 모델 %s에 너무 깁니다."},
		{"Choose a model for longer texts.", "더 긴 텍스트를 받는 모델을 고르세요."},
		{"The built-in embedder keeps no vectors, so there is nothing to make anew.", "내장 임베더는 벡터를 저장하지 않으므로 다시 만들 것이 없습니다."},
		{"Choose another embedder first, with `oxios memory embedder set`.", "먼저 `oxios memory embedder set`으로 다른 임베더를 고르세요."},
		{"Switch it on in Settings, Models, or choose another embedder.", "설정의 모델에서 켜거나 다른 임베더를 고르세요."},
		{"embedder is %q, but must name a model as provider/model, like ollama/nomic-embed-text, or be empty for the built-in one", "embedder가 %q이지만 ollama/nomic-embed-text처럼 제공자/모델이거나, 내장 임베더면 비어 있어야 합니다"},
		{"%s gives vectors of %d numbers now; those that are kept have %d.", "%s이(가) 이제 %d차원 벡터를 주는데 저장된 것은 %d차원입니다."},
		{"It is another model now: make all vectors anew with `oxios memory embedder rebuild`.", "다른 모델이 되었습니다. `oxios memory embedder rebuild`로 벡터를 모두 다시 만드세요."},
		{"built in", "내장"},
		{"%d of %d memories have vectors of %s", "기억 %d/%d개에 %s의 벡터가 있습니다"},
		{"%d vectors could not be read and were made anew.", "벡터 %d개를 읽을 수 없어 다시 만들었습니다."},
	}
}
